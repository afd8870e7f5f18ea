"""Tables that NumPy lays out in one piece are not copied."""

import subprocess
import sys
import textwrap

import pytest

needs_proc = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="there is no /proc/self/status")

#: The peak of a program alone: what getrusage tells includes that of the process which started it.
PEAK = 'peak = lambda: 1024 * int(open("/proc/self/status").read().split("VmHWM:")[1].split()[0])\n'


def printed(program, **values):
    """Run a program in a process of its own."""
    source = PEAK + textwrap.dedent(program).format(**values)
    return subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=True).stdout


#: A copy of the table would add one table; the work itself adds far less (p is small).
MOST_GROWTH = 0.5

PROGRAM = """
    import numpy as np
    from foretask import MultiTaskClassifier

    n, p = 400_000, 40
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, p), dtype=np.{dtype})
    X = np.{order}(X)
    y = (X[:, 0] > 0).astype(int)
    small = MultiTaskClassifier(lam=1.0, gamma=1.0, labels="classical", theory="isotropic")
    small.fit(X[:1000].copy(), y[:1000])
    ballast = np.ones_like(X)  # what scikit-learn's own checks may take, given back
    del ballast
    before = peak()
    {work}
    print((peak() - before) / X.nbytes)
"""


@needs_proc
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("order", ["ascontiguousarray", "asfortranarray"])
def test_predicting_does_not_copy_the_table(dtype, order):
    growth = float(printed(PROGRAM, dtype=dtype, order=order, work="small.predict(X)"))
    assert growth < MOST_GROWTH, growth


GATHER = """
    import numpy as np
    from foretask import Statistics

    n, p = 400_000, 40
    rng = np.random.default_rng(0)
    X = np.{order}(rng.integers(0, 100, (n, p), dtype=np.uint8).astype(np.{dtype}))
    y = np.arange(n) % 2
    {load}
    Statistics().add(X[:1000].copy(), y[:1000])
    before = peak()
    Statistics().add(X, y)
    print((peak() - before) / (8 * n * p))
"""

MAPPED = """
    import os, tempfile
    path = os.path.join(tempfile.mkdtemp(), "X.npy")
    np.save(path, X)
    X = np.load(path, mmap_mode="r")
"""


@needs_proc
@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "uint8", "int32"])
@pytest.mark.parametrize("order", ["ascontiguousarray", "asfortranarray"])
@pytest.mark.parametrize("load", ["", MAPPED], ids=["in memory", "mapped"])
def test_gathering_makes_no_table_of_doubles(dtype, order, load):
    load = textwrap.dedent(load).strip().replace("\n", "; ")
    growth = float(printed(GATHER, dtype=dtype, order=order, load=load))
    # Pages of a mapped file count as memory of the process while they are there.
    pages = {"float64": 1.0, "float32": 0.5, "float16": 0.25, "uint8": 0.125, "int32": 0.5}[dtype]
    assert growth < MOST_GROWTH + (pages if load else 0.0), growth


TARGETS = """
    import numpy as np
    from foretask import MultiTaskClassifier

    n, p, tasks = 3200, 10, 16
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, p))
    y = (X[:, 0] > 0).astype(int)
    task = np.arange(n) % tasks
    def fit(**settings):
        settings = dict(rehearse=False, views="linear") | settings
        return MultiTaskClassifier(**settings).fit(X, y, task)
    fit(target=0)
    before = peak()
    small = fit(memory_budget=0)
    middle = peak()
    large = fit(memory_budget=2**40)
    after = peak()
    assert len(small.models_) == len(large.models_) == tasks
    same = all(
        (small.models_[t].to_bytes() == large.models_[t].to_bytes()) for t in small.models_
    )
    print(same, middle - before, after - before)
"""


@needs_proc
def test_a_budget_bounds_the_memory_of_many_targets():
    same, small, large = printed(TARGETS).split()
    assert same == "True"
    # Sixteen targets at once hold far more than one after the other.
    assert int(small) < 0.5 * int(large), (small, large)


SPARSE = """
    import numpy as np
    from scipy import sparse
    from foretask import MultiTaskClassifier

    n, p = 400, 400_000
    X = sparse.random_array((n, p), density=40 / p, rng=np.random.default_rng(0), format="csr")
    y, task = np.arange(n) % 2, np.arange(n) // 300
    before = peak()
    MultiTaskClassifier(target=1).fit(X, y, task)
    print((peak() - before) / (8 * n * p))
"""


@needs_proc
def test_sparse_rows_are_never_made_dense():
    growth = float(printed(SPARSE))
    assert growth < MOST_GROWTH, growth


SHORT = """
    import resource
    import numpy as np
    from foretask import MultiTaskClassifier, Statistics

    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((300, 20)), np.arange(300) % 2
    fit = lambda: MultiTaskClassifier().fit(X, y).predict_proba(X).tobytes()
    expected = fit()
    size = 1024 * int(open("/proc/self/status").read().split("VmSize:")[1].split()[0])
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (size + (16 << 20), hard))
    said = []
    for work in (fit, lambda: Statistics().add(X, y)):
        try:
            work()
        except MemoryError as error:
            said.append(str(error))
    resource.setrlimit(resource.RLIMIT_AS, (hard, hard))
    print(len(said), all("enough memory" in one for one in said), fit() == expected)
"""


@needs_proc
def test_no_memory_is_an_error_after_which_all_is_well():
    assert printed(SHORT).split() == ["2", "True", "True"]
