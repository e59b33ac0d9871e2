"""Tables are asked about whatever their columns are called."""

from __future__ import annotations

import pytest

from .conftest import Desk, picture_of, rows_of


async def test_bug_41_columns_in_another_script_are_quoted(desk: Desk) -> None:
    turned = await desk.ask("nenkan", "total 売上 by 年")
    assert dict(rows_of(turned)) == {2021: 5, 2022: 7, 2023: 6}
    assert picture_of(turned).count('aria-roledescription="bar"') == 3


@pytest.mark.parametrize(
    ("question", "right"),
    [
        ("Total a.b by 3pointplay", {"x": 3, "y": 4}),
        ("Total y.1 by it's", {"p": 3, "q": 5}),
        ("Total y[0] by 3pointplay", {"x": 40, "y": 60}),
        ('Total `y[0]` by "it\'s"', {"p": 40, "q": 60}),
    ],
)
async def test_bug_43_names_with_a_digit_first_a_dot_or_a_quote_are_asked(
    desk: Desk, question: str, right: dict[str, int]
) -> None:
    assert dict(rows_of(await desk.ask("games", question))) == right


@pytest.mark.parametrize(
    ("question", "right"),
    [
        ("Average alter of homes by from", {"Lisbon": 45.0, "Porto": 30.0}),
        ("Total Select of homes by from", {"Lisbon": 5, "Porto": 5}),
        ('Total "alter" by `from`', {"Lisbon": 90, "Porto": 30}),
    ],
)
async def test_bug_44_columns_named_like_words_of_the_language_are_quoted(
    desk: Desk, question: str, right: dict[str, float]
) -> None:
    assert dict(rows_of(await desk.ask("homes", question))) == right
