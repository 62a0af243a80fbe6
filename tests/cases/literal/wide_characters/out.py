# Compiled by saftc from in.saft; edit that file instead.
from runtime_support.ops import show

# A character that is two columns wide counts as two.
greeting = (
    "こんにちは、世界。今日はとても良い天気ですね。"
    + " and "
    + "散歩に行きましょう".upper()
)
short = "日本語" + "テスト"
combined = [
    "é",
    "ü",
    "日",
    "本",
    "語",
    "の",
    "テ",
    "ス",
    "ト",
    "で",
    "す",
    "よ",
    "ね",
    "。",
]
print(greeting, short, show(combined))
