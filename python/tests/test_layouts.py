"""One row at a time or all at once, C or Fortran order, single or double precision: the same predictions."""

import numpy as np
import pytest
from scipy import sparse

from foretask import MultiTaskClassifier

#: Sums of products are taken in another order, which moves their last bits.
ROUNDING = 1e-12


def problem(features, classes):
    rng = np.random.default_rng(features)
    rows = 240
    y, task = rng.integers(0, classes, rows), rng.integers(0, 2, rows)
    # Values that single precision holds as they are.
    X = rng.normal(size=(rows, features)).astype(np.float32).astype(np.float64)
    X[:, :classes] += 2.0 * (y[:, None] == np.arange(classes))
    return X, y, task


@pytest.fixture(scope="module", params=[(5, 2), (40, 3), (300, 2)], ids=str)
def fitted(request):
    X, y, task = problem(*request.param)
    X = X.astype(np.float32).astype(np.float64)
    models = [
        MultiTaskClassifier(target=1, rehearse=False, views=views).fit(X, y, task)
        for views in ("auto", "linear")
    ]
    return X, models


def layouts(X):
    yield "one row at a time", lambda ask: np.concatenate([ask(X[row : row + 1]) for row in range(len(X))])
    yield (
        "seven rows at a time",
        lambda ask: np.concatenate([ask(X[at : at + 7]) for at in range(0, len(X), 7)]),
    )
    yield "Fortran order", lambda ask: ask(np.asfortranarray(X))
    yield "single precision", lambda ask: ask(X.astype(np.float32))
    yield "single precision in Fortran order", lambda ask: ask(np.asfortranarray(X, dtype=np.float32))
    yield "every second column of a wider table", lambda ask: ask(np.repeat(X, 2, axis=1)[:, ::2])
    yield "sparse", lambda ask: ask(sparse.csr_array(X))


def test_predictions_do_not_depend_on_the_layout(fitted):
    X, models = fitted
    for model in models:
        probabilities, margins = model.predict_proba(X), model.decision_function(X)
        size = np.abs(margins).max()
        sorted_margins = np.sort(np.atleast_2d(margins.T).T, axis=1)
        gap = np.abs(margins) if margins.ndim == 1 else sorted_margins[:, -1] - sorted_margins[:, -2]
        for name, each in layouts(X):
            np.testing.assert_allclose(
                each(model.predict_proba), probabilities, rtol=0, atol=ROUNDING, err_msg=name
            )
            np.testing.assert_allclose(
                each(model.decision_function), margins, rtol=0, atol=ROUNDING * size, err_msg=name
            )
            # A decision may turn only where it hangs on the last bits.
            turned = each(model.predict) != model.predict(X)
            assert (gap[turned] <= ROUNDING * size).all(), name


def test_the_same_rows_in_the_same_layout_are_the_same_bits(fitted):
    X, models = fitted
    for model in models:
        assert model.predict_proba(X).tobytes() == model.predict_proba(X.copy()).tobytes()
