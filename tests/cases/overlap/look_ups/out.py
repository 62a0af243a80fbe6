# Compiled by saftc from in.saft; edit that file instead.
from collections.abc import Iterator

from runtime_support import overlap, prompt
from runtime_support.ops import print, show  # print keeps the order


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

    def each_question_2() -> Iterator[tuple[str, str]]:
        for question in questions:
            yield question, answers[question]

    def ask_question_2(item: tuple[str, str]) -> dict[str, str]:
        question, answer = item
        new_doubts: dict[str, str] = {}
        new_doubts[question] = doubt(answer)
        return new_doubts

    for new_doubts in overlap(ask_question_2, each_question_2()):
        doubts.update(new_doubts)

    def each_question_3() -> Iterator[tuple[str, str, str]]:
        for question in questions:
            if len(question) > 80:
                continue
            short = question + "?"
            yield short, answers[question], doubts[question]

    def ask_question_3(item: tuple[str, str, str]) -> None:
        short, answer, found_doubt = item
        print(
            prompt(
                "Is {0} right for {short}, though {1}?",
                answer,
                found_doubt,
                short=short,
            ).value
        )

    overlap(ask_question_3, each_question_3()).run()

    def each_i() -> Iterator[str]:
        for i in range(2):
            yield questions[i]

    def ask_i(found_question: str) -> str:
        # one of them
        found = prompt("{0}", found_question).value  # asked
        return found

    for found in overlap(ask_i, each_i()):
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
