# Compiled by saftc from guess.saft; edit that file instead.

# A loop with a model in it: the model guesses a number, the script keeps the bounds and the score.

from runtime_support import prompt

secret = 5
low = 1
high = 20
tries = 0
found = False

while not found and tries < 8:
    guess = prompt(
        "Guess a whole number from {low} up to {high}. Reply with the number.",
        low=low,
        high=high,
        returns=int,
    ).value
    tries += 1
    if guess < low or guess > high:
        print(f"{guess} is out of bounds")
        continue
    print(f"{guess}?")
    if guess == secret:
        found = True
    elif guess < secret:
        low = guess + 1
    else:
        high = guess - 1

print(f"{'found' if found else 'not found'} after {tries} tries")
