import os

# One of scikit-learn's checks is skipped otherwise; read when scipy is imported.
os.environ.setdefault("SCIPY_ARRAY_API", "1")

import matplotlib
import numpy as np
import pytest

matplotlib.use("Agg")


@pytest.fixture(autouse=True)
def closed_figures():
    yield
    import matplotlib.pyplot as plt

    plt.close("all")


def draw(seed=0, *, p=20, few=20, many=80, distance=1.2, classes=("bike", "mug"), swap=False):
    """Two tasks: a target with few rows and a source that is alike (or has its classes swapped)."""
    rng = np.random.default_rng(seed)
    m = len(classes)
    centres = distance * rng.standard_normal((m, p)) / np.sqrt(p) * 3
    drift = 0.3 * rng.standard_normal((m, p))
    codes = np.r_[np.arange(many) % m, np.arange(few) % m]
    target = np.arange(many + few) >= many
    X = rng.standard_normal((many + few, p)) + centres[codes]
    X[target] += drift[codes[target]]
    named = np.where(~target & swap, m - 1 - codes, codes)
    y = np.asarray(classes)[named]
    task = np.where(target, "webcam", "amazon")
    return X, y, task


@pytest.fixture
def two_tasks():
    return draw()


@pytest.fixture
def three_classes():
    return draw(1, classes=("a", "b", "c"), few=45, many=90, distance=0.8)
