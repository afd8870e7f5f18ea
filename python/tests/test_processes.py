"""Fits in many threads and processes: the same numbers, and no end that never comes."""

import multiprocessing
import os
import sys
import threading

import numpy as np
import pytest

from foretask import MultiTaskClassifier


def problem():
    rng = np.random.default_rng(3)
    X, y, task = rng.normal(size=(240, 12)), rng.integers(0, 2, 240), rng.integers(0, 3, 240)
    X[:, 0] += 1.5 * y
    return X, y, task


def fitted(_=None):
    X, y, task = problem()
    model = MultiTaskClassifier(target=0, rehearse=False).fit(X, y, task=task)
    return model.forecast_.error, model.predict_proba(X[:5]).tolist()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_forked_processes_have_threads_of_their_own():
    expected = fitted()  # which starts the threads of this process
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map_async(fitted, range(4)).get(timeout=120) == [expected] * 4


def test_spawned_processes_fit_alike():
    joblib = pytest.importorskip("joblib")
    found = joblib.Parallel(n_jobs=2, backend="loky")(joblib.delayed(fitted)() for _ in range(2))
    assert found == [fitted()] * 2


def test_eight_threads_fit_alike():
    expected, found = fitted(), []
    threads = [threading.Thread(target=lambda: found.append(fitted())) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=300)
    assert found == [expected] * 8


@pytest.mark.skipif(sys.platform == "win32", reason="there is no fork")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_fork_of_a_fork_has_threads_too():
    fitted()
    context = multiprocessing.get_context("fork")

    def child(queue):
        fitted()
        inner = context.Process(target=lambda: queue.put(fitted()))
        inner.start()
        inner.join()

    queue = context.Queue()
    process = context.Process(target=child, args=(queue,))
    process.start()
    assert queue.get(timeout=120) == fitted()
    process.join()
