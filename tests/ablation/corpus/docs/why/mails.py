MAILS: list[str] = [
    "My invoice from March is wrong: you charged me twice.",
    "The app crashes when I open the settings.",
    "Do you have an office in Oslo?",
]
