"""Rows and how they are shown; must not know how anything is measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

HEADINGS = ("row", "Lectern", "reference", "ratio", "limit", "holds")


@dataclass(frozen=True, slots=True)
class Row:
    """One comparison; smaller is better.

    ``ours`` and ``reference`` are in ``unit``. ``limit`` is for their ratio or, where there is no reference,
    for ``ours`` itself; None: the row is there to be read, and always holds. ``open``: that it misses
    its limit is known; the limit stays what it is, and the row is shown as open.
    """

    name: str
    ours: float
    reference: float | None
    unit: str
    limit: float | None = None
    open: bool = False

    @property
    def ratio(self) -> float | None:
        """How many times the reference."""
        return None if self.reference is None else self.ours / self.reference

    @property
    def ok(self) -> bool:
        """Whether the limit holds."""
        measured = self.ours if self.ratio is None else self.ratio
        return self.limit is None or measured <= self.limit

    @property
    def fails(self) -> bool:
        """Whether the limit is missed, and that was not known."""
        return not self.ok and not self.open

    def cells(self) -> tuple[str, ...]:
        """The row as text, a cell for each of ``HEADINGS``."""
        unit = f" {self.unit}" if self.ratio is None else ""
        return (
            self.name,
            f"{_digits(self.ours)} {self.unit}",
            "" if self.reference is None else f"{_digits(self.reference)} {self.unit}",
            "" if self.ratio is None else f"{self.ratio:.2f}",
            "" if self.limit is None else f"{self.limit:g}{unit}",
            "" if self.limit is None else ("yes" if self.ok else "open" if self.open else "NO"),
        )

    def to_json(self) -> dict[str, object]:
        """The row as plain JSON."""
        return {
            "row": self.name,
            "ours": self.ours,
            "reference": self.reference,
            "unit": self.unit,
            "ratio": self.ratio,
            "limit": self.limit,
            "ok": self.ok,
            "open": self.open,
        }


def markdown(rows: Sequence[Row]) -> str:
    """The rows as a Markdown table that is aligned as plain text, too."""
    cells = [HEADINGS, *(row.cells() for row in rows)]
    widths = [max(len(line[column]) for line in cells) for column in range(len(HEADINGS))]
    rule = tuple("-" * (width - 1) + ("-" if column == 0 else ":") for column, width in enumerate(widths))
    return "".join(_line(line, widths) for line in (cells[0], rule, *cells[1:]))


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    aligned = [cells[0].ljust(widths[0])]
    aligned += [cell.rjust(width) for cell, width in zip(cells[1:], widths[1:], strict=True)]
    return f"| {' | '.join(aligned)} |\n"


def _digits(value: float) -> str:
    """Three significant digits without an exponent."""
    decimals = next((count for count, least in enumerate((100, 10, 1)) if abs(value) >= least), 3)
    return f"{value:.{decimals}f}"
