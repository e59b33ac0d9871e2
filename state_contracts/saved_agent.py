"""A data agent that a person saved under a name of their own."""

from pydantic import BaseModel, ConfigDict


class SavedAgent(BaseModel):
    """A resource name and the label that the person gave it."""

    model_config = ConfigDict(extra="forbid")

    label: str
    agent: str
