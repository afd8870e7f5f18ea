"""One page to look at and to play with."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from os import PathLike
from pathlib import Path
from typing import Any

from . import _foretask
from ._pickles import Kept


@dataclass(frozen=True)
class Report(Kept):
    """One self-contained page: the verdict, thresholds, priors, costs, labels and sources to play with.

    Attributes
    ----------
    task : object
        The target.
    html : str
        The page. It loads nothing, and lets run no script but its own.
    """

    task: Any
    html: str = field(repr=False)

    def save(self, path: str | PathLike[str]) -> Path:
        """Write the page to a file, whole or not at all.

        Parameters
        ----------
        path : str or path-like
            The file.

        Returns
        -------
        Path
            The file.
        """
        place = Path(path)
        if not place.parent.is_dir():
            raise FileNotFoundError(
                f"there is no folder {str(place.parent)!r} for {str(place)!r}: create it first"
            )
        _foretask.write_file(place, self.html)
        return place

    def _repr_html_(self) -> str:
        # Scripts of the page run, and reach nothing of the notebook.
        return (
            '<iframe sandbox="allow-scripts" title="foretask report" '
            'style="width:100%;height:760px;border:1px solid #8884" '
            f'srcdoc="{escape(self.html)}"></iframe>'
        )
