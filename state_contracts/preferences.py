"""How a person likes answers."""

from typing import Literal

from pydantic import BaseModel, ConfigDict

Weekday = Literal["monday", "sunday"]


class Preferences(BaseModel):
    """A person's settings; None leaves the choice to the application."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)

    language: str | None = None
    """Language of the answers, as a BCP 47 tag: `en`, `pt`, `id`."""
    locale: str | None = None
    """How numbers and dates are written, as a CLDR locale: `en_US`, `pt_BR`."""
    currency: str | None = None
    """ISO 4217 code of amounts that carry no currency of their own."""
    time_zone: str | None = None
    """IANA zone that decides when a day begins: `America/Sao_Paulo`."""
    fiscal_year_start: int | None = None
    """Month in which the fiscal year begins, 1 to 12."""
    week_start: Weekday | None = None
    chart: str | None = None
    """Chart kind to prefer where it is honest."""
    default_agent: str | None = None
