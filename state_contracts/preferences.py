"""How a person likes answers."""

from typing import Annotated, Literal
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from .chart import ChartKind

Weekday = Literal["monday", "sunday"]


def _time_zone(name: str) -> str:
    try:
        ZoneInfo(name)
    except (LookupError, ValueError, OSError) as error:
        raise ValueError("no such IANA time zone; America/Sao_Paulo is one.") from error
    return name


Language = Annotated[str, Field(pattern=r"^[a-z]{2,3}(-[A-Za-z0-9]+)*$")]
Locale = Annotated[str, Field(pattern=r"^[a-z]{2,3}(_[A-Za-z0-9]+)*$")]
Currency = Annotated[str, Field(pattern=r"^[A-Z]{3}$")]
TimeZone = Annotated[str, AfterValidator(_time_zone)]


class Preferences(BaseModel):
    """A person's settings; None leaves the choice to the application."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)

    language: Language | None = None
    """Language of the answers, as a BCP 47 tag: `en`, `pt`, `id`."""
    locale: Locale | None = None
    """How numbers and dates are written, as a CLDR locale: `en_US`, `pt_BR`."""
    currency: Currency | None = None
    """ISO 4217 code of amounts that carry no currency of their own."""
    time_zone: TimeZone | None = None
    """IANA zone that decides when a day begins: `America/Sao_Paulo`."""
    fiscal_year_start: int | None = Field(default=None, ge=1, le=12)
    """Month in which the fiscal year begins, 1 to 12."""
    week_start: Weekday | None = None
    chart: ChartKind | None = None
    """Chart kind to prefer where it is honest."""
    default_agent: str | None = None
