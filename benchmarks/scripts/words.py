"""How often words occur, written by hand."""


def words_of(text):
    return text.lower().replace(",", " ").replace(".", " ").split()


def count(words):
    counts = {}
    for word in words:
        counts[word] = counts.get(word, 0) + 1
    return counts


def work(text):
    return [f"{word} x {uses}" for word, uses in count(words_of(text)).items() if uses > 1]
