# Compiled by saftc from journey.json; edit that file instead.
from geography import City, distance, locate, total


def main() -> float:
    home = City("Oslo")
    return total(
        legs=[
            distance(a=locate(home), b=locate(City(name=name)))
            for name in ["Rome", "Cairo"]
        ]
    )


if __name__ == "__main__":
    print(main())
