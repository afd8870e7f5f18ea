"""Tables for notebooks. Names come from data files; they are escaped here."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any


def shown(name: Any) -> str:
    r"""Return a name as it may be shown anywhere: control characters and terminal escapes as text.

    >>> shown("mug"), shown("\x1b[31mred"), shown(3)
    ('mug', '\\x1b[31mred', '3')
    """
    text = str(name)
    return text if text.isprintable() else repr(text)[1:-1]


def table(heads: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return rows as an HTML table.

    >>> table(["class"], [["<b>"]])
    '<table><thead><tr><th>class</th></tr></thead><tbody><tr><td>&lt;b&gt;</td></tr></tbody></table>'
    """
    head = "".join(f"<th>{escape(shown(text))}</th>" for text in heads)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(shown(text))}</td>" for text in row) + "</tr>" for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def lines(text: str) -> str:
    """Return lines of text, each on its own."""
    return "".join(f"<div>{escape(shown(line))}</div>" for line in text.splitlines())
