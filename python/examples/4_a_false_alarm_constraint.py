"""At most 5 % of the healthy may be alarmed: hold the rate, and foretell how many sick are found."""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from foretask import MultiTaskClassifier, RocForecastDisplay, evaluate

data = load_breast_cancer()
rng = np.random.default_rng(3)
order = rng.permutation(len(data.target))
train, test = order[:200], order[200:]
scaler = StandardScaler().fit(data.data[train])
X = scaler.transform(data.data)
y = data.target_names[data.target]

model = MultiTaskClassifier(null_class="benign", false_alarm=0.05).fit(X[train], y[train])
told, measured = model.forecast_.alarm, evaluate(model, X[test], y[test]).alarm
print(f"false alarms: asked {told['requested']:.1%}, expected {told['false_alarm']:.1%}", end=", ")
low, high = told["false_alarm_interval"]
print(f"90 % interval {low:.1%} to {high:.1%}, measured {measured.false_alarm.share:.1%}")
print(f"detections: expected {told['detection']:.1%}, measured {measured.detection.share:.1%}")

display = RocForecastDisplay.from_estimator(model, X[test], y[test])
display.ax_.axvline(0.05, color="0.5", linestyle="--")
plt.savefig("false_alarm.png")
