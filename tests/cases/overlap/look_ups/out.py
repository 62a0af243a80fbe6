# Compiled by saftc from in.saft; edit that file instead.
from collections.abc import Iterator

from runtime_support import overlap, prompt
from runtime_support.ops import show


def doubt(claim: str) -> str:
    return prompt("What speaks against {claim}?", claim=claim).value


def main() -> None:
    questions = ["a", "b"]
    answers: dict[str, str] = {}

    def each_question() -> Iterator[str]:
        for question in questions:
            if question == "":
                raise AssertionError("an empty question")
            yield question

    def ask_question(question: str) -> dict[str, str]:
        new_answers: dict[str, str] = {}
        new_answers[question] = doubt(question)
        return new_answers

    for new_answers in overlap(ask_question, each_question()):
        answers.update(new_answers)
    doubts: dict[str, str] = {}
    for question in questions:
        doubts[question] = doubt(answers[question])
    for question in questions:
        if len(question) > 80:
            continue
        short = question + "?"
        print(
            prompt(
                "Is {0} right for {short}, though {1}?",
                answers[question],
                doubts[question],
                short=short,
            ).value
        )
    for i in range(2):
        # one of them
        found = prompt("{0}", questions[i]).value  # asked
        print(found)

    # behind a prompt, or only maybe: in order
    for question in questions:
        print(prompt("{question}", question=question).value + answers[question])
    for question in questions:
        print(
            show(
                len(question) > 1
                and answers[question] == prompt("{question}", question=question).value
            )
        )
    for question in questions:
        answers[question] = doubt(answers["all"])


if __name__ == "__main__":
    main()
