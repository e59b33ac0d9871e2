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
    """A person's settings; None leaves the choice to the application. Answers follow `locale`; the other settings are
    kept, and not yet used."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)

    language: Language | None = None
    """Language of the answers, as a BCP 47 tag: `en`, `pt`, `id`. Kept; not yet used."""
    locale: Locale | None = None
    """How numbers and dates are written, as a CLDR locale: `en_US`, `pt_BR`."""
    currency: Currency | None = None
    """ISO 4217 code of the currency that the person thinks in. Kept; amounts never take its sign, since it says nothing
    about the data."""
    time_zone: TimeZone | None = None
    """IANA zone that decides when a day begins: `America/Sao_Paulo`. Kept; not yet used by the planner."""
    fiscal_year_start: int | None = Field(default=None, ge=1, le=12)
    """Month in which the fiscal year begins, 1 to 12. Kept; not yet used by the planner."""
    week_start: Weekday | None = None
    """Day on which a week begins. Kept; not yet used by the planner."""
    chart: ChartKind | None = None
    """Chart kind to prefer where it is honest. Kept; not yet used."""
    default_agent: str | None = None
    """Data agent to ask, by its id or its full resource name. Kept; not yet used."""
