# Compiled by saftc from highest_average.saft; edit that file instead.

# Which column of a table has the highest average? The model sees a summary of the table, never the
# table, and the script checks its answer. The compiled module is run in this folder, too.

from typing import Literal

from runtime_support import ops, prompt
from runtime_support.ops import mean, read

Subject = Literal["history", "maths", "physics", "biology"]

results = read("exams/results.csv")
print(results.shape[0], "pupils, among them")
print(ops.select(results, ["student", "maths"]).head(3))

answer: Subject = prompt(
    "Which column of {results} has the highest average?",
    results=results,
    returns=Subject,
).value

best = "history"
for subject in results.columns[1:]:
    average = mean(results, subject)
    print(f"{subject}: {round(average, 2)}")
    if average > mean(results, best):
        best = subject

print(
    f"the model says {answer}, "
    + ("rightly" if answer == best else f"but it is {best}")
)
