"""What an operator shares with everybody."""

from pydantic import BaseModel, ConfigDict, Field


class AppConfig(BaseModel):
    """Shared settings of the application."""

    model_config = ConfigDict(extra="forbid")

    agents: dict[str, str] = Field(default_factory=dict)
    tables: list[str] = Field(default_factory=list)
