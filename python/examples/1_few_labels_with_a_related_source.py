"""Few labels for the digits 3 and 8, plenty for the digits 5 and 9: what does the source bring?

The forecast is made before the test images are touched; the picture shows both.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from foretask import ForecastDisplay, Study, TaskValueDisplay, evaluate

X, y = load_digits(return_X_y=True)
rng = np.random.default_rng(0)


def draw(digits, count):
    """Rows of each digit, drawn at random."""
    return np.concatenate([rng.choice(np.flatnonzero(y == digit), count, replace=False) for digit in digits])


target, source = draw((3, 8), 8), draw((5, 9), 100)
train = np.r_[target, source]
task = np.repeat(["3 or 8", "5 or 9"], [len(target), len(source)])
test = np.setdiff1d(np.flatnonzero((y == 3) | (y == 8)), target)

# One fit: the forecast, the value of the source and the classifier come from it.
study = Study(X[train], y[train], task, target="3 or 8")
alone = Study(X[train], y[train], task, target="3 or 8", labels="alone")
print(study.forecast())
for name, one in (("with the source", study), ("target alone", alone)):
    measured = evaluate(one.classifier(), X[test], y[test])
    (low, high), verdict = measured.forecast.interval, "within" if measured.within else "outside"
    print(
        f"{name:16} expected {measured.forecast.error:6.1%} ({low:.1%} to {high:.1%}), "
        f"measured {measured.error:6.1%}, {verdict}"
    )

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
ForecastDisplay.from_estimator(study.classifier(), X[test], y[test], ax=left)
TaskValueDisplay.from_study(study, ax=right)
figure.savefig("few_labels.png")
