"""Few labels for the digits 3 and 8, plenty for the digits 5 and 9: what does the source bring?

The forecast is made before the test images are touched; the picture shows both.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from foretask import ForecastDisplay, MultiTaskClassifier, TaskValueDisplay

X, y = load_digits(return_X_y=True)
rng = np.random.default_rng(0)


def draw(digits, count):
    """Rows of each digit, drawn at random."""
    return np.concatenate([rng.choice(np.flatnonzero(y == digit), count, replace=False) for digit in digits])


target, source = draw((3, 8), 8), draw((5, 9), 100)
train = np.r_[target, source]
task = np.repeat(["3 or 8", "5 or 9"], [len(target), len(source)])
test = np.setdiff1d(np.flatnonzero((y == 3) | (y == 8)), target)

model = MultiTaskClassifier(target="3 or 8").fit(X[train], y[train], task=task)
alone = MultiTaskClassifier(target="3 or 8", labels="alone").fit(X[train], y[train], task=task)
print(model.forecast_)
for name, fitted in (("with the source", model), ("target alone", alone)):
    told, error = fitted.forecast_, 1 - fitted.score(X[test], y[test])
    print(
        f"{name:16} expected {told.error:6.1%} "
        f"({told.interval[0]:.1%} to {told.interval[1]:.1%}), measured {error:6.1%}"
    )

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4))
ForecastDisplay.from_estimator(model, X[test], y[test], ax=left)
TaskValueDisplay.from_estimator(model, X[train], y[train], task, ax=right)
figure.tight_layout()
figure.savefig("few_labels.png")
