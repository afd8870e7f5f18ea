"""All ten digits, on two scanners: one fit gives a rule and a forecast for each."""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.metrics import ConfusionMatrixDisplay

from foretask import EvaluationDisplay, MultiTaskClassifier, evaluate

X, y = load_digits(return_X_y=True)
rng = np.random.default_rng(2)
order = rng.permutation(len(y))
scanner = np.where(np.arange(len(y)) < 1200, "old", "new")[np.argsort(order)]
# The old scanner is darker and blurs; its images are many.
old = scanner == "old"
X = X.copy()
X[old] = 0.7 * X[old] + 2.0 + 0.15 * np.roll(X[old], 1, axis=1)

train = np.r_[np.flatnonzero(old), np.flatnonzero(~old)[:150]]
test = np.setdiff1d(np.arange(len(y)), train)

model = MultiTaskClassifier().fit(X[train], y[train], task=scanner[train])
for name, told in model.forecast_.items():
    print(name, told)
measured = evaluate(model, X[test], y[test], task="new")
told = measured.forecast
print(f"new scanner: expected {told.error:.1%}, measured {measured.error:.1%}")

worst = np.argsort(told.class_errors)[::-1][:3]
print("hardest digits:", ", ".join(f"{told.classes[i]} ({told.class_errors[i]:.0%})" for i in worst))

figure, (left, right) = plt.subplots(1, 2, figsize=(13, 5), layout="constrained")
ConfusionMatrixDisplay(told.confusion.round(2), display_labels=told.classes).plot(ax=left, cmap="Blues")
left.set_title("expected confusion")
EvaluationDisplay(measured).plot(right)
figure.savefig("ten_classes.png")
