"""The colours of Okabe and Ito, which people with any kind of colour blindness can tell apart.

The same thing has the same colour in every picture, here and on the command line
(``crates/foretask-cli/src/plot/palette.rs``).
"""

# The classes, in their order.
CLASSES = ("#0072b2", "#d55e00", "#cc79a7", "#e69f00", "#56b4e9", "#009e73")
# What was foretold, and what was measured.
FORETOLD = "#009e73"
MEASURED = "#000000"
# What lowers the error and what raises it; tasks alike and tasks opposed.
HELPS = "#0072b2"
HARMS = "#d55e00"
UNKNOWN = "#707070"
# Lines to compare with.
MUTED = "#606060"


def of_class(index: int) -> str:
    """Return the colour of a class."""
    return CLASSES[index % len(CLASSES)]
