"""How far a long computation is: a bar, or lines on standard error."""

from __future__ import annotations

import numbers
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

#: Lines are written where so much more is done.
STEP = 0.1


@contextmanager
def telling(verbose: Any, what: str) -> Iterator[Callable[[float], None] | None]:
    """Show the shares that the returned function is told; None where nothing is to be shown.

    With tqdm it is a bar, otherwise lines on standard error.
    """
    if not isinstance(verbose, numbers.Integral) or verbose < 0:
        raise ValueError(f"verbose must be 0, for silence, or 1, for progress; got {verbose!r}")
    if not verbose:
        yield None
        return
    try:
        from tqdm.auto import tqdm
    except ImportError:
        with _lines(what) as tell:
            yield tell
        return
    layout = "{desc} {percentage:3.0f} % |{bar}| {elapsed}<{remaining}"
    with tqdm(total=1.0, desc=f"foretask: {what}", bar_format=layout) as bar:
        yield lambda share: bar.update(share - bar.n)
        bar.update(1.0 - bar.n)


@contextmanager
def _lines(what: str) -> Iterator[Callable[[float], None]]:
    start = time.monotonic()
    shown = 0.0

    def tell(share: float) -> None:
        nonlocal shown
        if share < shown + STEP or share >= 1.0:
            return
        shown = share
        left = (time.monotonic() - start) * (1.0 - share) / share
        print(f"foretask: {what} {share:4.0%}, {left:.0f} s left", file=sys.stderr, flush=True)

    yield tell
    print(f"foretask: {what} done in {time.monotonic() - start:.1f} s", file=sys.stderr, flush=True)
