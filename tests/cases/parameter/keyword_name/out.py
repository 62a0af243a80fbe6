# Compiled by saftc from in.saft; edit that file instead.


def tag(class_: str, lambda_: int = 1) -> str:
    return class_ + str(lambda_)


print(tag("a"), tag(class_="b", lambda_=2))
