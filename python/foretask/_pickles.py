"""What comes out of a pickle is looked at before it is believed.

Whoever may write a pickle may run any code: open those of people you trust only. But a pickle may also be of
another version, cut off, or edited; the error then is told when it is opened, not somewhere later.
"""

from __future__ import annotations

from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np

from ._foretask import __version__

#: Where a pickle says which version wrote it.
VERSION = "_foretask_version"


def sealed(state: dict[str, Any]) -> dict[str, Any]:
    """Return what pickle is to keep of an object, with the version that wrote it."""
    return {**state, VERSION: __version__}


def opened(state: Any, what: str) -> dict[str, Any]:
    """Return what :func:`sealed` was given."""
    if not isinstance(state, dict) or not all(isinstance(name, str) for name in state):
        raise broken(what, f"its state is a {type(state).__name__}")
    written = state.get(VERSION)
    if written != __version__:
        by = f"foretask {written}" if isinstance(written, str) else "another version of foretask"
        raise ValueError(
            f"this {what} was pickled by {by}, and this is foretask {__version__}: unpickle it there, or fit "
            "again; files of save and to_bytes are read across versions"
        )
    return {name: value for name, value in state.items() if name != VERSION}


def broken(what: str, why: object) -> ValueError:
    """Return the error for a pickle that was changed."""
    return ValueError(f"this pickle is damaged or was edited: it holds no {what}: {why}")


class Kept:
    """An object that looks at its pickles: here a data class, whose fields have types."""

    #: Whether there may be more than the fields.
    _open = False

    @classmethod
    def _fields(cls) -> dict[str, Any]:
        """The types of what a pickle must hold, by name."""
        return get_type_hints(cls)

    def _verify(self) -> None:
        """Raise a ValueError if the fields contradict each other."""

    def __getstate__(self) -> dict[str, Any]:
        return sealed(self.__dict__)

    def __setstate__(self, state: Any) -> None:
        what, fields = type(self).__name__, self._fields()
        found = opened(state, what)
        for name, hint in fields.items():
            if name not in found:
                raise broken(what, f"{name!r} is missing")
            if not fits(found[name], hint):
                raise broken(what, f"{name!r} is {_briefly(found[name])}")
        for name in found.keys() - fields.keys():
            if not self._open or hasattr(type(self), name):
                raise broken(what, f"there is {name!r} in it")
        self.__dict__.update(found)
        try:
            self._verify()
        except (ValueError, TypeError) as error:
            raise broken(what, error) from error


def fits(value: Any, hint: Any) -> bool:
    """Whether a value is of a type as annotations write it; NaN is no number unless in an array or a dict.

    >>> [fits(value, float | None) for value in (0.5, None, "0.5", float("nan"))]
    [True, True, False, False]
    >>> fits((1, 2.0), tuple[int, float]), fits([1, "2"], list[int]), fits(np.zeros(2), np.ndarray)
    (True, False, True)
    """
    origin, inside = get_origin(hint), get_args(hint)
    if hint is Any:
        return True
    if hint in (None, NoneType):
        return value is None
    if origin in (Union, UnionType):
        return any(fits(value, one) for one in inside)
    if origin is Literal:
        return isinstance(value, str) and value in inside
    if origin is np.ndarray:
        kind = get_args(inside[1])[0]
        return isinstance(value, np.ndarray) and (kind is Any or value.dtype.kind == np.dtype(kind).kind)
    if origin is tuple:
        each = (
            zip(value, inside, strict=True)
            if isinstance(value, tuple) and len(value) == len(inside)
            else None
        )
        return each is not None and all(fits(one, own) for one, own in each)
    if origin is list:
        return isinstance(value, list) and all(fits(one, inside[0]) for one in value)
    if origin is dict:
        return isinstance(value, dict) and all(
            fits(name, inside[0]) and (fits(one, inside[1]) or one is np.nan or one != one)
            for name, one in value.items()
        )
    if hint is bool:
        return isinstance(value, bool | np.bool_)
    if hint is float:
        return isinstance(value, int | float | np.number) and not isinstance(value, bool) and value == value
    if hint is int:
        return isinstance(value, int | np.integer) and not isinstance(value, bool)
    if hasattr(hint, "_fields") and issubclass(hint, tuple):
        types = get_type_hints(hint).values()
        return isinstance(value, hint) and all(fits(one, own) for one, own in zip(value, types, strict=True))
    return isinstance(value, hint)


def _briefly(value: Any) -> str:
    shown = repr(value)
    return shown if len(shown) < 40 else f"a {type(value).__name__}"
