# Compiled by saftc from in.saft; edit that file instead.

rate: float = 2.0
negative: float = -2.0
prices: list[float] = [1.0, 2.5, 3.0]
pair: tuple[float, int] = (1.0, 2)
half: float | None = 1.0
n = 4
ratio: float = float(n)
doubled: float = float(n * 2)
mixed: float = 1.0 if n > 2 else 2.5
big: float = float(9007199254740993)
