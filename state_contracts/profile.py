"""What Memory Bank knows of an analyst."""

from pydantic import BaseModel, ConfigDict, Field


class AnalystProfile(BaseModel):
    """The default structured profile; every field is optional."""

    model_config = ConfigDict(extra="forbid")

    role: str | None = None
    team: str | None = None
    business_area: str | None = None
    metrics: list[str] = Field(default_factory=list)
    tables: list[str] = Field(default_factory=list)
