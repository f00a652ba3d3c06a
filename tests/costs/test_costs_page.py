import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from pages import plain
from span_makers import DEMO, chat, ingest
from streamlit.testing.v1 import AppTest

from agent.records import Limits, Run, RunStatus
from agent.run.usecases import Plandeck
from agent.settings import Settings
from dashboard import services as process
from dashboard.look import places
from traces import attributes
from traces.prices import PriceBook
from traces.records import SpanRecord

MAIN = Path(process.__file__).with_name("main.py")
SECONDS = 60


@pytest.fixture
def app(tmp_path: Path) -> Iterator[Plandeck]:
    process.close_services()
    process.use_settings(Settings(home=tmp_path / "home", project="finance"))
    yield process.services()
    process.close_services()


def page(**params: str | list[str]) -> AppTest:
    shown = AppTest.from_file(MAIN, default_timeout=SECONDS)
    for name, value in params.items():
        shown.query_params[name] = value
    shown.run()
    shown.switch_page(places.COSTS)
    return shown.run()


def now_call(number: int, tokens_in: int | None, *, ago: int = 0, **more: object) -> SpanRecord:
    """A call of this moment, in the trace of its number."""
    call = chat(number, tokens_in, 10, trace=f"{number:032x}", **more)
    started_at = time.time_ns() - ago * 1_000_000_000 - number * 1_000
    return SpanRecord(
        **{name: getattr(call, name) for name in SpanRecord.__slots__ if name not in ("started_at", "ended_at")},
        started_at=started_at,
        ended_at=started_at + 1_000_000_000,
    )


def store(app: Plandeck, *spans: SpanRecord, made_up: bool = False) -> None:
    prices = PriceBook(extra=[{**DEMO, "illustrative": made_up}])
    ingest(app.spans, *spans, project=app.project, prices=prices)


def in_run(run_id: str, role: str = "execution", user: str = "ana") -> dict[str, object]:
    return {attributes.RUN_ID: run_id, attributes.ROLE: role, attributes.USER: user, attributes.AGENT: "analyst"}


def a_run(app: Plandeck, run_id: str) -> None:
    app.records.add_run(
        Run(
            project=app.project,
            run_id=run_id,
            thread_id=f"th-{run_id}",
            agent="analyst",
            agent_version="1",
            task="Compare invoices",
            mode="plan_execute",
            provider="offline",
            model="offline",
            status=RunStatus.QUEUED,
            requested_by="ana",
            created_at=datetime.now(UTC),
            limits=Limits(),
            tools={},
            trace_id="1" * 32,
            root_span_id="1" * 16,
        )
    )


def words(shown: AppTest) -> str:
    parts = [*shown.title, *shown.markdown, *shown.caption, *shown.warning, *shown.error]
    return "\n".join(part.value for part in parts)


def metrics(shown: AppTest) -> dict[str, str]:
    return {item.label: item.value for item in shown.metric}


def test_before_anything_was_traced_the_page_says_what_would_fill_it(app: Plandeck) -> None:
    shown = page()
    assert not shown.exception
    assert shown.title[0].value == "Nothing spent in the last 30 days"
    assert "`http://127.0.0.1:8501/v1/traces`" in words(shown)
    assert [button.label for button in shown.button] == ["Ask for a run"]
    assert not shown.metric


def test_a_page_with_runs_shows_figures_runs_and_arithmetic(app: Plandeck) -> None:
    a_run(app, "r-1")
    store(
        app,
        now_call(1, 1_000_000, **in_run("r-1", "planning")),
        now_call(2, 2_000_000, **in_run("r-1")),
        now_call(3, 1_000_000, model="mystery"),
    )
    shown = page(run="r-1")
    assert not shown.exception
    assert shown.title[0].value == r"\$9\.00 in the last 30 days"
    assert metrics(shown) == {
        "Cost": "$9.00",
        "Tokens": "4.0\u00a0M",
        "Model calls": "3",
        "Planning share": "33\u00a0%",
        "A run costs": "$9.00",
    }
    assert shown.warning[0].value.startswith("**1\u00a0call of mystery has no price")
    runs = shown.dataframe[0].value
    assert list(runs["Task"]) == ["Compare invoices"]
    assert list(runs["Cost"]) == ["$9.00"]
    assert r"How the \$9\.00 of r\-1 are made" in words(shown)
    assert "parts add up" in shown.table[0].value["Price book"].iloc[-1]


def test_made_up_prices_are_marked_where_they_are_shown(app: Plandeck) -> None:
    store(app, now_call(1, 1_000_000, **in_run("r-1")), made_up=True)
    shown = page()
    assert shown.title[0].value.endswith(r"all made\-up \(offline model\)")
    assert metrics(shown)["Made\\-up cost"] == "$3.00"
    assert "Made\\-up cost by day and model" in words(shown)
    assert list(shown.dataframe[0].value["Made-up"]) == ["$3.00"]
    assert "Cost" not in shown.dataframe[0].value


def test_real_and_made_up_money_are_told_apart_and_never_added(app: Plandeck) -> None:
    store(app, now_call(1, 1_000_000, **in_run("r-1")), made_up=True)
    store(app, now_call(2, 2_000_000, **in_run("r-2")))
    shown = page()
    assert shown.title[0].value == r"\$6\.00 in the last 30 days"
    assert "+ $3.00\u00a0made-up, offline model, 1\u00a0call; in no other figure" in words(shown).replace("\\", "")
    assert (metrics(shown)["Cost"], metrics(shown)["Made\\-up cost"]) == ("$6.00", "$3.00")
    runs = shown.dataframe[0].value
    assert (list(runs["Cost"]), list(runs["Made-up"])) == (["$6.00", "–"], ["–", "$3.00"])
    assert r"How the \$6\.00 in the last 30 days are made" in words(shown)
    assert r"How the made\-up \$3\.00 in the last 30 days come about" in words(shown)
    assert "$9" not in words(shown).replace("\\", "")


def test_the_address_chooses_period_and_filters(app: Plandeck) -> None:
    store(
        app, now_call(1, 1_000_000), now_call(2, 3_000_000, failed=True, model="demo"), now_call(3, 7, ago=3 * 86_400)
    )
    assert metrics(page(period="7d"))["Model calls"] == "3"
    assert metrics(page(period="7d", status="error"))["Cost"] == "$9.00"
    assert metrics(page(period="custom", since="2020-01-01", until="2020-01-31")) == {}


def test_choosing_a_filter_writes_it_into_the_address(app: Plandeck) -> None:
    store(app, now_call(1, 1_000_000), now_call(2, 5, model="mystery"))
    shown = page()
    shown.multiselect(key="costs-model").set_value(["mystery"]).run()
    assert shown.query_params["model"] == "mystery"
    assert metrics(shown)["Model calls"] == "1"
    shown.multiselect(key="costs-model").set_value([]).run()
    assert "model" not in shown.query_params
    assert metrics(shown)["Model calls"] == "2"


def test_choosing_a_period_writes_it_into_the_address(app: Plandeck) -> None:
    store(app, now_call(1, 1_000_000))
    shown = page(run="r-1")
    shown.segmented_control(key="costs-period").set_value("7d").run()
    assert shown.query_params["period"] == "7d"
    assert "run" not in shown.query_params
    assert shown.title[0].value.endswith("in the last 7 days")


def test_filters_that_nothing_passes_can_be_cleared(app: Plandeck) -> None:
    store(app, now_call(1, 1_000_000))
    shown = page(model="gone")
    assert "No model call of this period passes the filters" in words(shown)
    next(button for button in shown.button if button.label == "Clear the filters").click().run()
    assert metrics(shown)["Model calls"] == "1"


def test_an_unknown_run_in_the_address_is_told(app: Plandeck) -> None:
    store(app, now_call(1, 1_000_000))
    shown = page(run="r-<b>gone</b>")
    assert not shown.exception
    assert "Run `r-<b>gone</b>` called no model" in words(shown)


def test_names_of_strangers_are_shown_literally(app: Plandeck) -> None:
    store(app, now_call(1, 5, model="**x** $y$ <b>", **in_run("r-$1$", user="![](http://evil)")))
    shown = page()
    assert not shown.exception
    assert "**1\u00a0call of \\*\\*x\\*\\* \\$y\\$ \\<b\\> has no price\\.**" in words(shown)


def test_calls_without_any_price_or_usage_draw_a_page_too(app: Plandeck) -> None:
    store(app, now_call(1, None, model="mystery"), now_call(2, None, model=None))
    shown = page(period="today")
    assert not shown.exception
    assert metrics(shown)["Cost"] == "unknown"
    assert "None of these calls has a price" in words(shown)


def test_a_price_file_that_comes_wrong_after_the_start_is_told(app: Plandeck) -> None:
    store(app, now_call(1, 100))
    (app.settings.home / "prices.toml").write_text("models = 1")
    (warning,) = [plain(str(item.value)) for item in page().warning]
    assert "prices.toml is wrong" in warning
    assert "The built-in prices are in force" in warning
