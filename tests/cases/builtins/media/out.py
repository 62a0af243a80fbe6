# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import file, image, ops, prompt
from runtime_support.ops import kind, list_files, parse, show

photo = image("photo.png")
print(
    prompt(
        "what is in {photo}, and in {0}?",
        image("https://example.org/b.png"),
        photo=photo,
    ).value
)

pages = [file(path) for path in list_files("scans/*.pdf")]
summary = prompt("sum up {pages}", pages=pages).value
print(summary, kind(photo), show(photo == image("photo.png")))

anything = parse("1")
print(show(image(anything)), show(file(anything)), show(ops.list_files(anything)))
