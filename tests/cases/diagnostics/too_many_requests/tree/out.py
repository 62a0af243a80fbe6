# Compiled by saftc from in.saft; edit that file instead.
from typing import TypedDict

from runtime_support import overlap, prompt
from runtime_support.ops import print  # print keeps the order


def where(city: str) -> str:
    return prompt("In which country is {city}?", city=city).value


class Triage(TypedDict):
    topic: str
    urgent: bool


def triage(mail: str) -> Triage:
    return prompt("Sort this mail: {mail}", mail=mail, returns=Triage).value


def main() -> None:
    mails = ["Hello", "The server is down", "Bye"]

    def ask_mail(mail: str) -> None:
        if triage(mail)["urgent"]:
            print(
                prompt(
                    "Answer {mail}, and name the country of Oslo. Use {where}.",
                    mail=mail,
                    where=where,
                    pure=[where],  # may be called at the same time
                ).value
            )
        else:
            print("later")

    overlap(ask_mail, mails).run()


if __name__ == "__main__":
    main()
