# Compiled by saftc from highest_average.saft; edit that file instead.
from typing import Literal

from runtime_support import list_files, mean, prompt, read

# Which column of a table has the highest average? The model sees a summary of the table, never the
# table, and the script checks its answer. The module in build/ is run from the folder above.

Subject = Literal["history", "maths", "physics", "biology"]

folder = "exams" if list_files("exams/*.csv") != [] else "examples/exams"
results = read(folder + "/results.csv")
print(results.head(3))

answer: Subject = prompt(
    "Which column of {results} has the highest average?",
    results=results,
    returns=Subject,
).value

best = "history"
for subject in ["history", "maths", "physics", "biology"]:
    average = mean(results, subject)
    print(subject + ": " + str(round(average, 2)))
    if average > mean(results, best):
        best = subject

print(
    "the model says "
    + answer
    + (", rightly" if answer == best else ", but it is " + best)
)
