"""A café's barista who remembers: an order lasts a conversation, a diet lasts a customer.

Two contracts say so once. `{user:dietary_preferences?}` shows the second to the model, in every conversation.
"""

from google.adk.agents import LlmAgent
from google.adk.apps.app import App
from google.adk.tools.tool_context import ToolContext
from pydantic import BaseModel

from askhouse.guard.plugin import ContractsGuard
from state_contracts import StateKey

MENU = {"espresso": 2.5, "latte": 4.0, "oat latte": 4.5}


class Order(BaseModel):
    """What one customer ordered in one conversation."""

    items: list[str]
    total: float


CURRENT_ORDER = StateKey(
    name="current_order", scope="session", holds=Order,
    writers=("place_order",), readers=("cafe",), purpose="The order of this conversation.",
)  # fmt: skip
DIET = StateKey(
    name="dietary_preferences", scope="user", holds=list[str],
    writers=("set_dietary_preference",), readers=("cafe",), purpose="What the customer does not take.",
)  # fmt: skip


def place_order(items: list[str], tool_context: ToolContext) -> dict[str, object]:
    """Place an order for items of the menu."""
    known = [item for item in items if item in MENU]
    order = Order(items=known, total=sum(MENU[item] for item in known))
    CURRENT_ORDER.write(tool_context.state, order)
    return order.model_dump()


def set_dietary_preference(preference: str, tool_context: ToolContext) -> dict[str, list[str]]:
    """Remember a dietary preference in every later conversation."""
    known = DIET.read(tool_context.state) or []
    DIET.write(tool_context.state, sorted({*known, preference.lower().strip()}))
    return {"all_preferences": DIET.read(tool_context.state) or []}


def build_app(model: str) -> App:
    """The barista, guarded: a key that no contract declares never reaches the session."""
    barista = LlmAgent(
        name="cafe",
        model=model,
        instruction="Take orders. Known about this customer: {user:dietary_preferences?}",
        tools=[place_order, set_dietary_preference],
    )
    return App(name="cafe", root_agent=barista, plugins=[ContractsGuard(contracts=(CURRENT_ORDER, DIET))])
