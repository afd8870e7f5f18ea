"""A source whose labels are the wrong way round: pooling is ruined by it, foretask turns it round."""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import RidgeClassifierCV

from foretask import MultiTaskClassifier, TaskRelatednessDisplay

X, y = load_digits(return_X_y=True)
rng = np.random.default_rng(1)
few = np.concatenate([rng.choice(np.flatnonzero(y == d), 8, replace=False) for d in (3, 8)])
pool = np.setdiff1d(np.flatnonzero((y == 3) | (y == 8)), few)
many, test = np.split(rng.permutation(pool), [150])

# The same images, but whoever labelled them mixed up the two buttons.
swapped = np.where(y[many] == 3, 8, 3)
train = np.r_[few, many]
labels = np.r_[y[few], swapped]
task = np.repeat(["mine", "theirs"], [len(few), len(many)])

model = MultiTaskClassifier(target="mine").fit(X[train], labels, task=task)
pooled = RidgeClassifierCV(np.logspace(-3, 3, 7)).fit(X[train], labels)
alone = RidgeClassifierCV(np.logspace(-3, 3, 7)).fit(X[few], y[few])

print(f"likeness of the tasks  {model.relatedness_[0, 1]:+.2f}")
print(f"pooled ridge           {1 - pooled.score(X[test], y[test]):6.1%} wrong")
print(f"ridge on my few labels {1 - alone.score(X[test], y[test]):6.1%} wrong")
print(f"foretask               {1 - model.score(X[test], y[test]):6.1%} wrong", end=", ")
print(f"{model.forecast_.error:.1%} expected")
assert model.score(X[test], y[test]) > pooled.score(X[test], y[test])

TaskRelatednessDisplay.from_estimator(model)
plt.savefig("swapped.png")
