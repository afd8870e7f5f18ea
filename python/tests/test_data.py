"""What becomes of labels and tables before the library sees them."""

import numpy as np
import pytest

from foretask import MultiTaskClassifier
from foretask._data import encode
from foretask._frames import is_finite


@pytest.mark.parametrize("kind", ["int8", "uint8", "int16", "uint16", "int64", "uint64"])
def test_labels_have_the_codes_of_numpy(kind):
    rng = np.random.default_rng(0)
    limits = np.iinfo(kind)
    for least, most in ((limits.min, limits.max), (limits.min, limits.min + 5), (limits.max - 5, limits.max)):
        values = rng.integers(least, most, 500, dtype=kind, endpoint=True)
        names, codes = encode(values, "classes")
        labels, expected = np.unique(values, return_inverse=True)
        assert names.labels.dtype == labels.dtype
        assert names.labels.tolist() == labels.tolist()
        assert codes.tolist() == expected.tolist()


def test_what_has_a_finite_sum_is_finite():
    table = np.full((50, 7), 1e308)
    assert is_finite(table / 1e10)
    assert not is_finite(table)  # only its sum is not
    for value in (np.nan, np.inf, -np.inf):
        for place in ((0, 0), (49, 6)):
            other = np.ones((50, 7))
            other[place] = value
            assert not is_finite(other)
            assert not is_finite(other.astype(np.float32))
    both = np.ones((50, 7))
    both[0, 0], both[1, 1] = np.inf, -np.inf
    assert not is_finite(both)


def test_tables_whose_sum_overflows_are_fitted_and_infinities_are_named():
    rng = np.random.default_rng(1)
    y = np.repeat([0, 1], 20)
    X = rng.normal(size=(40, 3)) + y[:, None]
    large = X.astype(np.float32) * np.float32(1e37)
    assert not is_finite(large + np.float32(3e38) / 10)
    MultiTaskClassifier(views="raw").fit(large + np.float32(3e38) / 10, y)
    X[3, 1] = np.inf
    with pytest.raises(ValueError, match=r"column '1' is 'inf' in row 3"):
        MultiTaskClassifier().fit(X, y)
