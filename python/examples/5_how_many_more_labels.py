"""How many more labels do I need? Ask the forecast, then check by labelling them."""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from foretask import LearningCurveForecastDisplay, MultiTaskClassifier, Study

X, y = load_digits(return_X_y=True)
keep = np.isin(y, (1, 7, 9))
X, y = X[keep], y[keep]
rng = np.random.default_rng(4)
# Noisy images, so that there is something left to learn.
X = X + 6.0 * rng.standard_normal(X.shape)
by_class = [rng.permutation(np.flatnonzero(y == digit)) for digit in (1, 7, 9)]
test = np.concatenate([rows[120:] for rows in by_class])


def first(count):
    """Rows of the first labels of each class."""
    return np.concatenate([rows[:count] for rows in by_class])


NOW, ADDED = 10, [0, 5, 10, 20, 40, 80]
now = first(NOW)
study = Study(X[now], y[now])
curve = study.learning_curve(ADDED)
(needed,) = study.labels_needed([0.08])
print(f"expected error now {curve.error[0]:.1%}; labels to add to each class for 8 %: {needed.added}")

display = LearningCurveForecastDisplay(curve).plot()
measured = []
for added in ADDED:
    rows = first(NOW + added)
    model = MultiTaskClassifier().fit(X[rows], y[rows])
    measured.append(1 - model.score(X[test], y[test]))
    print(f"+{added:<3} expected {curve.error[ADDED.index(added)]:6.1%}, measured {measured[-1]:6.1%}")
display.ax_.plot(ADDED, measured, "x", label="measured")
display.ax_.legend()
plt.savefig("learning_curve.png")
