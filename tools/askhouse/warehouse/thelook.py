"""The shop thelook: generated once from a fixed seed, the same on every machine.

Randomness is counted, not drawn: a number depends on its purpose and its position only, so that a new column changes
no other one, and a new release of numpy changes nothing.
"""

from __future__ import annotations

import tomllib
import zlib
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]
    Texts = NDArray[np.object_]
    Frame = dict[str, NDArray[Any]]

USERS = 20_000
PRODUCTS = 2_900
GUEST_VISITS = 28_000
DAY = 86_400
START = 1_546_387_200  # 2019-01-02T00:00:00Z
END = 1_767_225_599  # 2025-12-31T23:59:59Z
NEVER = -1

_ORDERS_PER_USER = (0.29, 0.36, 0.17, 0.09, 0.05, 0.02, 0.01, 0.006, 0.004)
_ITEMS_PER_ORDER = (0.70, 0.20, 0.06, 0.04)
_STATUSES = {"Shipped": 30, "Complete": 27, "Processing": 18, "Cancelled": 14, "Returned": 11}
_MONTHS = (0.86, 0.82, 0.94, 0.96, 1.0, 1.02, 0.97, 0.95, 1.0, 1.06, 1.3, 1.42)
_WEEKDAYS = (1.0, 0.96, 0.97, 1.0, 1.08, 1.14, 1.06)  # Monday first


@cache
def words() -> dict[str, Any]:
    """The words and weights of the shop."""
    return tomllib.loads(files(__package__).joinpath("data/thelook_words.toml").read_text("utf-8"))


def uniform(purpose: str, count: int) -> Floats:
    """Numbers in [0, 1), one for each position, by splitmix64."""
    import numpy as np

    seed = np.uint64(zlib.crc32(purpose.encode()) << 20)
    with np.errstate(over="ignore"):
        z = (np.arange(1, count + 1, dtype=np.uint64) + seed) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z ^= z >> np.uint64(31)
    return (z >> np.uint64(11)) / float(1 << 53)


def _normal(purpose: str, count: int) -> Floats:
    """About normal, mean 0 and deviation 1: the sum of twelve uniform numbers."""
    return cast("Floats", uniform(purpose, count * 12).reshape(count, 12).sum(axis=1) - 6.0)


def _choose(weights: Any, at: Floats) -> Ints:
    """Positions in `weights`, chosen in proportion to them."""
    import numpy as np

    cumulated = np.cumsum(np.asarray(weights, dtype=np.float64))
    return cast("Ints", np.minimum(np.searchsorted(cumulated, at * cumulated[-1], side="right"), len(cumulated) - 1))


def _texts(values: Any) -> Texts:
    import numpy as np

    return np.array(list(values), dtype=object)


def _null(values: NDArray[Any], purpose: str, share: float) -> NDArray[Any]:
    """The values, a share of them missing."""
    import numpy as np

    nothing: Any = None if values.dtype == object else NEVER
    return np.where(uniform(purpose, len(values)) < share, nothing, values)


def _times(seconds: Ints) -> NDArray[Any]:
    import numpy as np

    moments = seconds.astype("datetime64[s]").astype("datetime64[us]")
    moments[seconds == NEVER] = np.datetime64("NaT")
    return moments


def _months(seconds: Ints) -> Ints:
    return cast("Ints", seconds.astype("datetime64[s]").astype("datetime64[M]").astype(int) % 12)


@cache
def _days() -> Floats:
    """How much is ordered up to each day, from 0 to 1: growth, season, day of the week."""
    import numpy as np

    seconds = np.arange(START, END, DAY)
    years = (seconds - START) / (365.25 * DAY)
    weekday = (seconds // DAY + 3) % 7
    # A slow year 2022 and a strong 2024, so that the trend is not a straight line.
    year = np.array([1.0, 1.15, 1.2, 0.95, 1.05, 1.25, 1.2])[np.minimum(years.astype(int), 6)]
    weight = 1.28**years * year * np.array(_MONTHS)[_months(seconds)] * np.array(_WEEKDAYS)[weekday]
    return cast("Floats", np.concatenate([[0.0], np.cumsum(weight)]) / weight.sum())


def _moment(day: Ints, purpose: str) -> Ints:
    """A moment of a day, most often around two in the afternoon."""
    share = (uniform(f"{purpose}/hour", len(day)) + uniform(f"{purpose}/minute", len(day))) / 2
    return cast("Ints", START + day * DAY + (share * 0.9 * DAY + 0.1 * DAY).astype(int))


def distribution_centers() -> Frame:
    """The warehouses."""
    import numpy as np

    centers = words()["centers"]
    return {
        "id": np.arange(1, len(centers) + 1),
        "name": _texts(center["name"] for center in centers),
        "latitude": np.array([center["place"][0] for center in centers]),
        "longitude": np.array([center["place"][1] for center in centers]),
    }


def products() -> Frame:
    """The products; `category_index` is left for the orders."""
    import numpy as np

    categories = words()["categories"]
    shelves = [(i, d, c["weight"]) for i, c in enumerate(categories) for d in ("Women", "Men") if _sells(c, d)]
    shelf = np.sort(_choose([weight for _, _, weight in shelves], uniform("product/shelf", PRODUCTS)))
    category = np.array([i for i, _, _ in shelves])[shelf]
    price = np.array([c["price"] for c in categories], dtype=float)[category]
    ending = np.array([0.01, 0.01, 0.0, 0.5])[(uniform("product/ending", PRODUCTS) * 4).astype(int)]
    retail = np.round(np.maximum(np.round(price * np.exp(0.5 * _normal("product/price", PRODUCTS))), 4) - ending, 2)
    brand = _pick("brands", "names", "product/brand", skew=1.6)
    adjective = _pick("brands", "adjectives", "product/adjective")
    noun = (uniform("product/noun", PRODUCTS) * 60).astype(int)
    nouns = [categories[c]["words"][n % len(categories[c]["words"])] for c, n in zip(category, noun, strict=True)]
    return {
        "id": np.arange(1, PRODUCTS + 1),
        "cost": np.round(retail * (0.38 + 0.26 * uniform("product/cost", PRODUCTS)), 2),
        "category": _texts(categories[c]["name"] for c in category),
        "name": _texts(f"{b} {a} {n}" for b, a, n in zip(brand, adjective, nouns, strict=True)),
        "brand": _null(brand, "product/nobrand", 0.01),
        "retail_price": retail,
        "department": _texts(shelves[s][1] for s in shelf),
        "sku": _hex("product/sku", PRODUCTS),
        "distribution_center_id": 1 + (uniform("product/center", PRODUCTS) * len(words()["centers"])).astype(int),
        "category_index": category,
    }


def _sells(category: dict[str, Any], department: str) -> bool:
    return category["department"] in ("B", department[0].replace("W", "F"))


def _pick(section: str, key: str, purpose: str, skew: float = 1.0) -> Texts:
    import numpy as np

    choices = _texts(words()[section][key])
    return cast("Texts", choices[np.floor(len(choices) * uniform(purpose, PRODUCTS) ** skew).astype(int)])


def _hex(purpose: str, count: int) -> Texts:
    """Codes of 28 hexadecimal digits."""
    import numpy as np

    halves = (uniform(purpose, count * 2) * float(1 << 53)).astype(np.uint64).reshape(count, 2)
    return _texts(f"{int(a):014X}{int(b):014X}" for a, b in halves)


def users() -> Frame:
    """The customers; `created` in seconds is left for the orders."""
    import numpy as np

    countries = words()["countries"]
    day = np.minimum(np.searchsorted(_days(), uniform("user/day", USERS) ** 1.25, side="right") - 1, len(_days()) - 2)
    growth = np.array([c.get("growth", 1.0) for c in countries])[None, :] ** (day[:, None] / 365.25)
    cumulated = np.cumsum(np.array([c["weight"] for c in countries])[None, :] * growth, axis=1)
    country = (cumulated < (uniform("user/country", USERS) * cumulated[:, -1])[:, None]).sum(axis=1)
    woman = uniform("user/gender", USERS) < 0.5
    at = {key: uniform(f"user/{key}", USERS) for key in ("first", "last", "city", "street", "number", "post")}
    home = [_item(countries[c]["cities"], at["city"][i]) for i, c in enumerate(country)]
    first = [_item(countries[c]["women" if woman[i] else "men"], at["first"][i]) for i, c in enumerate(country)]
    last = [_item(countries[c]["last"], at["last"][i]) for i, c in enumerate(country)]
    created = _moment(day, "user")
    host = ("example.com", "example.org", "example.net")
    names = zip(first, last, strict=True)
    return {
        "id": np.arange(1, USERS + 1),
        "first_name": _texts(first),
        "last_name": _texts(last),
        "email": _texts(_mail(f, n, i, host[i % 3]) for i, (f, n) in enumerate(names, 1)),
        "age": _null(12 + (uniform("user/age", USERS) * 59).astype(int), "user/noage", 0.01),
        "gender": np.where(woman, _texts(["F"]), _texts(["M"])),
        "state": _texts(city[1] for city in home),
        "street_address": _texts(
            f"{1 + int(n * 9800)} {_item(words()['users']['streets'], s)}"
            for n, s in zip(at["number"], at["street"], strict=True)
        ),
        "postal_code": _null(
            _texts(f"{city[4]}{int(p * 100):02d}" for city, p in zip(home, at["post"], strict=True)),
            "user/nopost",
            0.01,
        ),
        "city": _texts(city[0] for city in home),
        "country": _texts(countries[c]["name"] for c in country),
        "latitude": np.round(np.array([city[2] for city in home]) + 0.12 * _normal("user/lat", USERS), 6),
        "longitude": np.round(np.array([city[3] for city in home]) + 0.12 * _normal("user/lon", USERS), 6),
        "traffic_source": _null(_weighted(words()["users"]["sources"], "user/source", USERS), "user/nosource", 0.02),
        "created_at": _times(created),
        "created": created,
        "day": day,
    }


def _item(choices: list[Any], at: float) -> Any:
    return choices[int(at * len(choices))]


def _mail(first: str, last: str, number: int, host: str) -> str:
    import unicodedata

    plain = unicodedata.normalize("NFKD", first + last).encode("ascii", "ignore").decode().lower()
    return f"{''.join(c for c in plain if c.isalnum()) or 'user'}{number}@{host}"


def _weighted(weights: dict[str, float], purpose: str, count: int) -> Texts:
    chosen: Texts = _texts(weights)[_choose(list(weights.values()), uniform(purpose, count))]
    return chosen


def orders(customers: Frame) -> Frame:
    """The orders, in order of time; times stay in seconds, NEVER where nothing happened."""
    import numpy as np

    per_user = _choose(_ORDERS_PER_USER, uniform("order/count", USERS))
    user = np.repeat(np.arange(USERS), per_user)
    count = len(user)
    since = customers["day"][user]
    low = _days()[since]
    at = low + uniform("order/day", count) ** 1.7 * (1 - low)  # most order soon after they register
    day = np.clip(np.searchsorted(_days(), at, side="right") - 1, since, len(_days()) - 2)
    soon = customers["created"][user] + 300 + (uniform("order/soon", count) * 3000).astype(int)
    created = np.minimum(np.where(day == since, soon, _moment(day, "order")), END)
    order = np.lexsort((user, created))
    user, created = user[order], created[order]
    status = _choose(list(_STATUSES.values()), uniform("order/status", count))
    frame = _lifecycle(created, _texts(_STATUSES)[status])
    return frame | {
        "order_id": np.arange(1, count + 1),
        "user_id": user + 1,
        "gender": customers["gender"][user],
        "num_of_item": 1 + _choose(_ITEMS_PER_ORDER, uniform("order/items", count)),
    }


def _lifecycle(created: Ints, wanted: Texts) -> Frame:
    """What became of each order by the end of the sample: nothing happens after it."""
    import numpy as np

    def later(moment: Ints, purpose: str, days: float) -> Ints:
        return cast("Ints", moment + 1800 + (uniform(purpose, len(moment)) * days * DAY).astype(int))

    shipped = later(created, "order/ship", 3)
    delivered = later(shipped, "order/deliver", 5)
    returned = later(delivered, "order/return", 14)
    sent = np.isin(wanted, ["Shipped", "Complete", "Returned"]) & (shipped <= END)
    arrived = sent & np.isin(wanted, ["Complete", "Returned"]) & (delivered <= END)
    back = arrived & (wanted == "Returned") & (returned <= END)
    moving = np.where(back, "Returned", np.where(arrived, "Complete", np.where(sent, "Shipped", "Processing")))
    return {
        "status": np.where(wanted == "Cancelled", "Cancelled", moving).astype(object),
        "created": created,
        "returned": np.where(back, returned, NEVER),
        "shipped": np.where(sent, shipped, NEVER),
        "delivered": np.where(arrived, delivered, NEVER),
    }


def order_items(bought: Frame, goods: Frame) -> Frame:
    """The items of the orders; `product` is the position of the product."""
    import numpy as np

    order = np.repeat(np.arange(len(bought["order_id"])), bought["num_of_item"])
    count = len(order)
    woman = (bought["gender"][order] == "F") ^ (uniform("item/gift", count) < 0.04)
    month = _months(bought["created"][order])
    category, product = np.zeros(count, dtype=int), np.zeros(count, dtype=int)
    at_category, at_product = uniform("item/category", count), uniform("item/product", count)
    for department in ("Women", "Men"):
        here = woman == (department == "Women")
        for number in range(12):
            chosen = here & (month == number)
            category[chosen] = _choose(_demand(department, number), at_category[chosen])
        for index in range(len(words()["categories"])):
            shelf = np.flatnonzero((goods["category_index"] == index) & (goods["department"] == department))
            chosen = here & (category == index)
            product[chosen] = shelf[(len(shelf) * at_product[chosen] ** 1.5).astype(int)] if chosen.any() else 0
    keys = ("status", "created", "shipped", "delivered", "returned", "user_id")
    return {key: bought[key][order] for key in keys} | {
        "id": np.arange(1, count + 1),
        "order_id": order + 1,
        "product": product,
        "sale_price": goods["retail_price"][product],
    }


def _demand(department: str, month: int) -> list[float]:
    return [
        c["weight"] * c.get("months", [1.0] * 12)[month] if _sells(c, department) else 0.0
        for c in words()["categories"]
    ]


def inventory_items(sold: Frame) -> Frame:
    """The pieces in stock, in order of arrival; `item` is the number of the order item that sold it, or NEVER."""
    import numpy as np

    count = len(sold["id"])
    spare = int(count * 0.75)
    arrived = sold["created"] - DAY - (uniform("stock/sold", count) * 59 * DAY).astype(int)
    lying = START + (uniform("stock/lying", spare) ** 0.6 * (END - START)).astype(int)
    product = np.concatenate([sold["product"], (uniform("stock/product", spare) * PRODUCTS).astype(int)])
    created = np.concatenate([arrived, lying])
    order = np.argsort(created, kind="stable")
    return {
        "id": np.arange(1, count + spare + 1),
        "product": product[order],
        "created": created[order],
        "sold": np.concatenate([sold["created"], np.full(spare, NEVER)])[order],
        "item": np.concatenate([sold["id"], np.full(spare, NEVER)])[order],
    }


def events(bought: Frame, sold: Frame, goods: Frame) -> Frame:
    """The visits to the site: one for each order, and those of visitors who did not sign in.

    `user` is the number of the customer or NEVER, `place` the customer whose address stands for the visitor's.
    """
    import numpy as np

    count = len(bought["order_id"])
    first_item = np.searchsorted(sold["order_id"], bought["order_id"])
    day = np.clip(np.searchsorted(_days(), uniform("visit/day", GUEST_VISITS)) - 1, 0, len(_days()) - 2)
    looked = (uniform("visit/product", GUEST_VISITS) * PRODUCTS).astype(int)
    steps = 1 + (uniform("visit/steps", GUEST_VISITS) * 4).astype(int)
    length = np.concatenate([np.where(bought["status"] == "Cancelled", 6, 5), steps])
    visits = count + GUEST_VISITS
    visit = np.repeat(np.arange(visits), length)
    step = np.arange(len(visit)) - np.repeat(np.cumsum(length) - length, length)
    # The fifth step is the purchase itself, at the moment of the order.
    end = np.concatenate([bought["created"], _moment(day, "visit") + 1200])
    pause = 40 + (uniform("visit/pause", visits) * 200).astype(int)
    created = np.minimum(end[visit] + (step - 4) * pause[visit], END)
    guests = 1 + (uniform("visit/place", GUEST_VISITS) * USERS).astype(int)
    address = (uniform("visit/address", visits * 4) * 254).astype(int).reshape(visits, 4) + 1
    product = np.concatenate([sold["product"][first_item], looked])[visit]
    sources, browsers = words()["visits"]["sources"], words()["visits"]["browsers"]
    return {
        "user": np.concatenate([bought["user_id"], np.full(GUEST_VISITS, NEVER)])[visit],
        "place": np.concatenate([bought["user_id"], guests])[visit],
        "sequence_number": step + 1,
        "session_id": _hex("visit/session", visits)[visit],
        "created": created,
        "ip_address": _texts(".".join(map(str, row)) for row in address.tolist())[visit],
        "browser": _weighted(browsers, "visit/browser", visits)[visit],
        "traffic_source": _weighted(sources, "visit/source", visits)[visit],
        "uri": _pages(step, product, goods),
        "event_type": _texts(["home", "department", "product", "cart", "purchase", "cancel"])[step],
    }


def _pages(step: Ints, product: Ints, goods: Frame) -> Texts:
    import numpy as np

    shelf = _texts(
        f"/department/{d.lower()}/category/{c.lower().replace(' & ', '&').replace(' ', '')}"
        for d, c in zip(goods["department"], goods["category"], strict=True)
    )
    item = _texts(f"/product/{number}" for number in goods["id"])
    fixed = _texts(["/", "", "", "/cart", "/purchase", "/cancel"])[step]
    return cast("Texts", np.where(step == 1, shelf[product], np.where(step == 2, item[product], fixed)))
