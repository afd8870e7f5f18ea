"""Expected receiver operating characteristic."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import roc_curve

from .._forecast import Forecast
from .base import POINTS, ExpectedDisplay, name
from .palette import FORETOLD, MEASURED, MUTED

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from typing_extensions import Self


class RocForecastDisplay(ExpectedDisplay):
    """Expected receiver operating characteristic, with measured points.

    Parameters
    ----------
    fpr, tpr : ndarray of shape (n_points,)
        Expected shares of the negative and of the positive class that raise an alarm.
    measured_fpr, measured_tpr : ndarray, default=None
        The same, measured.
    pos_label : object, default=None
        The positive class.
    roc_auc : float, default=None
        The expected area under the curve.
    band : tuple of two ndarrays of shape (n_points, 2), default=None
        The upper and the lower edge of the 90 % band: false alarms and detections.
    task : object, default=None
        The target.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        What it was drawn on.
    line_ : matplotlib Line2D
        The expected curve.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from foretask import RocForecastDisplay
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> display = RocForecastDisplay.from_data(X[:200], y[:200])
    >>> display.ax_.get_xlabel()
    'false alarms'
    """

    def __init__(
        self,
        fpr: NDArray[np.float64],
        tpr: NDArray[np.float64],
        measured_fpr: NDArray[np.float64] | None = None,
        measured_tpr: NDArray[np.float64] | None = None,
        pos_label: Any = None,
        roc_auc: float | None = None,
        band: tuple[NDArray[np.float64], NDArray[np.float64]] | None = None,
        task: Any = None,
    ) -> None:
        self.fpr = fpr
        self.tpr = tpr
        self.measured_fpr = measured_fpr
        self.measured_tpr = measured_tpr
        self.pos_label = pos_label
        self.roc_auc = roc_auc
        self.band = band
        self.task = task

    def _draw(self, ax: Axes) -> None:
        (self.line_,) = ax.plot(self.fpr, self.tpr, color=FORETOLD, label="forecast")
        if self.band is not None:
            upper, lower = self.band
            edge = np.vstack([[0.0, 0.0], upper, [1.0, 1.0], lower[::-1]])
            ax.fill(edge[:, 0], edge[:, 1], color=FORETOLD, alpha=0.18, linewidth=0, label="90 % band")
        if self.measured_fpr is not None and self.measured_tpr is not None:
            ax.plot(self.measured_fpr, self.measured_tpr, color=MEASURED, linewidth=1, label="measured")
        ax.plot([0, 1], [0, 1], color=MUTED, linewidth=1, linestyle=":")
        detected = "detections" if self.pos_label is None else f"detections of {name(self.pos_label)}"
        ax.set(xlabel="false alarms", ylabel=detected, xlim=(-0.01, 1.01), ylim=(-0.01, 1.01))
        title = "" if self.task is None else name(self.task)
        if self.roc_auc is not None:
            title += f"\nAUC {self.roc_auc:.2f} expected"
        ax.set_title(title.strip(), fontsize="medium")
        ax.legend(loc="lower right", fontsize="small")

    @classmethod
    def _of(
        cls,
        told: Forecast,
        scores: NDArray[np.float64] | None = None,
        truth: NDArray[Any] | None = None,
        error: float | None = None,
    ) -> Self:
        fpr, tpr = told.roc(POINTS)
        positive = told.classes[1]
        known = {
            "pos_label": positive,
            "roc_auc": told.auc,
            "band": told._roc_band(POINTS),
            "task": told.task,
        }
        if scores is None:
            return cls(fpr, tpr, **known)
        # Every score, so that few samples make steps where they are.
        false_alarms, detections, _ = roc_curve(truth, scores, pos_label=positive, drop_intermediate=False)
        return cls(fpr, tpr, false_alarms, detections, **known)
