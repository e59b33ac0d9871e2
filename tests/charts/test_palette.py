"""Colours can be told apart, on white and on a dark page, by readers who see fewer of them too."""

from itertools import pairwise

import pytest

from askhouse.charts.choose import MOST_SERIES, MOST_SLICES
from askhouse.charts.palette import MARK, REST, SERIES

WHITE, DARK = "#ffffff", "#131314"
SEEN = {  # Machado, Oliveira and Fernandes (2009), severity 1
    "all": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deuteranopia": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
}
XYZ = ((0.4124, 0.3576, 0.1805), (0.2126, 0.7152, 0.0722), (0.0193, 0.1192, 0.9505))


def linear(colour: str) -> list[float]:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    return [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]


def times(matrix: tuple[tuple[float, ...], ...], vector: list[float]) -> list[float]:
    return [sum(a * b for a, b in zip(row, vector, strict=True)) for row in matrix]


def contrast(a: str, b: str) -> float:
    low, high = sorted(times(XYZ, linear(colour))[1] for colour in (a, b))
    return (high + 0.05) / (low + 0.05)


def difference(a: str, b: str, seen: str) -> float:
    """Delta E (CIE 1976) of two colours as they are seen."""

    def lab(colour: str) -> tuple[float, float, float]:
        rgb = [min(1.0, max(0.0, part)) for part in times(SEEN[seen], linear(colour))]
        white = (0.95047, 1.0, 1.08883)
        x, y, z = (v / w for v, w in zip(times(XYZ, rgb), white, strict=True))
        fx, fy, fz = (t ** (1 / 3) if t > 0.008856 else 7.787 * t + 16 / 116 for t in (x, y, z))
        return 116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)

    return sum((p - q) ** 2 for p, q in zip(lab(a), lab(b), strict=True)) ** 0.5


@pytest.mark.parametrize("colour", [*SERIES, MARK, REST])
@pytest.mark.parametrize("page", [WHITE, DARK])
def test_every_colour_stands_out_from_the_page(colour: str, page: str) -> None:
    assert contrast(colour, page) >= 3


@pytest.mark.parametrize("seen", SEEN)
def test_neighbours_can_be_told_apart(seen: str) -> None:
    close = [(a, b) for a, b in pairwise(SERIES) if difference(a, b, seen) < 15]

    assert close == []
    assert difference(SERIES[MOST_SLICES - 1], REST, seen) >= 15


def test_there_is_a_colour_for_every_series() -> None:
    assert len(set(SERIES)) == len(SERIES) >= max(MOST_SERIES, MOST_SLICES)
