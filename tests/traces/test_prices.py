import json
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import genai_prices
import pytest
from span_makers import CASES, NOON

from traces.errors import PriceFileError
from traces.model_names import name_forms
from traces.prices import PriceBook
from traces.records import Priced, Usage, dollars

OFFLINE = {"id": "offline", "provider": "offline", "input": "0.40", "output": "1.60", "illustrative": True}
ILLUSTRATIVE = {**OFFLINE, "provider": None}


def price(book: PriceBook, model: str, usage: Usage, at: int = NOON, **more: object) -> Priced:
    return book.price(model, None, usage, at, **more)  # type: ignore[arg-type]  # a test's words


def own(tmp_path: Path, text: str, name: str = "prices.json") -> Path:
    path = tmp_path / name
    path.write_text(text)
    return path


def one_model(**model: object) -> str:
    return json.dumps({"models": [{"id": "demo", "input": "1", **model}]})


def test_every_form_of_a_name_finds_its_model_and_no_other() -> None:
    case = CASES / "C17_model_name_forms"
    book = PriceBook(case / "prices.json")
    match = json.loads((case / "expected.json").read_text())["match"]
    found = {name: price(book, name, Usage(input=1, output=1)).rates for name in match}
    assert {name: rates and rates.entry for name, rates in found.items()} == match


@pytest.mark.parametrize("name", ["demo-large-nano", "demo-larg", "demo", "xdemo-large", "demo-large-20259999"])
def test_names_that_are_merely_alike_are_unknown(name: str) -> None:
    book = PriceBook(CASES / "C17_model_name_forms" / "prices.json")
    assert price(book, name, Usage(input=1, output=1)) == Priced(None, None)


def test_a_dot_in_a_name_is_not_taken_for_a_vendor() -> None:
    assert list(name_forms("gpt-4.1")) == ["gpt-4.1"]


@pytest.mark.parametrize("name", ["claude-sonnet-4-5-mini", "made-up", "gpt-5-ultra", "gpt-4.1-20259999"])
def test_made_up_models_have_no_price(name: str) -> None:
    assert price(PriceBook(), name, Usage(input=10, output=10)).cost is None


@pytest.mark.parametrize("provider", ["ollama", "vllm", "offline"])
def test_a_model_on_an_own_machine_has_no_public_price(provider: str) -> None:
    assert PriceBook().price("gpt-4.1", provider, Usage(input=1, output=1), NOON).cost is None


@pytest.mark.parametrize(
    ("model", "provider"),
    [
        ("gpt-4.1", "openai"),
        ("gpt-4.1-2025-04-14", "openai"),
        ("azure/gpt-4o", "azure.ai.openai"),
        ("claude-sonnet-4-5-20250929", "anthropic"),
        ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", "aws.bedrock"),
        ("gemini-2.5-pro", "gcp.gemini"),
        ("openrouter/anthropic/claude-sonnet-4-5", None),
    ],
)
def test_public_models_are_priced_in_their_many_names(model: str, provider: str | None) -> None:
    priced = PriceBook().price(model, provider, Usage(input=1000, output=100), NOON)
    assert priced.price_source == "price book"
    assert priced.cost is not None
    assert priced.cost > 0


@pytest.mark.parametrize("model", ["gpt-5", "claude-sonnet-4-5", "gemini-2.5-pro"])
@pytest.mark.parametrize("prompt", [1_000, 250_000])
def test_our_arithmetic_agrees_with_the_library(model: str, prompt: int) -> None:
    usage = Usage(input=prompt, output=700, cache_read=300, cache_write=200, cache_write_1h=50, reasoning=100)
    theirs = genai_prices.calc_price(
        genai_prices.Usage(
            input_tokens=prompt,
            output_tokens=700,
            cache_read_tokens=300,
            cache_write_tokens=200,
            cache_write_1h_tokens=50,
        ),
        model,
        genai_request_timestamp=datetime.fromtimestamp(NOON // 10**9, UTC),
    )
    ours = price(PriceBook(), model, usage)
    assert ours.cost is not None
    assert dollars(ours.cost) == theirs.total_price


def test_own_prices_win_over_everything(tmp_path: Path) -> None:
    book = PriceBook(own(tmp_path, json.dumps({"models": [{"id": "gpt-4.1", "input": "9", "output": 9}]})))
    priced = price(book, "gpt-4.1", Usage(input=1_000_000, output=0))
    assert (priced.cost, priced.price_source) == (9 * 10**12, "own")
    assert price(book, "gpt-4.1-mini", Usage(input=10, output=0)).price_source == "price book"


def test_made_up_prices_are_marked_and_own_ones_win_over_them(tmp_path: Path) -> None:
    priced = price(PriceBook(extra=[ILLUSTRATIVE]), "offline", Usage(input=1_000_000, output=0))
    assert (priced.cost, priced.price_source, priced.illustrative) == (400_000_000_000, "illustrative", True)
    book = PriceBook(own(tmp_path, json.dumps({"models": [{"id": "offline", "input": 0}]})), extra=[ILLUSTRATIVE])
    priced = price(book, "offline", Usage(input=5, output=0))
    assert (priced.cost, priced.price_source, priced.illustrative) == (0, "own", False)


def test_an_entry_for_one_provider_is_for_no_other() -> None:
    book = PriceBook(extra=[OFFLINE])
    assert book.price("offline", "offline", Usage(input=1, output=1), NOON).cost is not None
    assert book.price("offline", "openai", Usage(input=1, output=1), NOON).cost is None


def test_toml_is_read_like_json(tmp_path: Path) -> None:
    text = 'unit = "USD per 1,000 tokens"\n[[models]]\nid = "demo"\ninput = "0.002"\noutput = 0.01\n'
    priced = price(PriceBook(own(tmp_path, text, "prices.toml")), "demo", Usage(input=1000, output=1000))
    assert priced.cost == 12_000_000_000


def test_the_price_is_that_of_the_day_of_the_call(tmp_path: Path) -> None:
    entries = [
        {"id": "demo", "input": "1"},
        {"id": "demo", "input": "3", "valid_from": "2026-01-01"},
        {"id": "demo", "input": "2", "valid_from": "2025-06-01"},
    ]
    book = PriceBook(own(tmp_path, json.dumps({"models": entries})))
    days = {"2025-05-31": 1, "2025-06-01": 2, "2025-12-31": 2, "2026-01-01": 3}
    for day, rate in days.items():
        at = int(datetime.fromisoformat(f"{day}T12:00:00+00:00").timestamp()) * 10**9
        assert price(book, "demo", Usage(input=1_000_000, output=0), at).cost == rate * 10**12


def test_a_changed_file_is_read_again_and_a_wrong_one_leaves_the_old_prices(tmp_path: Path) -> None:
    path = own(tmp_path, one_model())
    book = PriceBook(path)
    path.write_text(one_model(input="2.00"))
    assert price(book, "demo", Usage(input=1_000_000, output=0)).cost == 2 * 10**12
    path.write_text("{")
    assert price(book, "demo", Usage(input=1_000_000, output=0)).cost == 2 * 10**12
    assert "prices.json is not readable as JSON" in (book.problem or "")
    path.write_text(one_model(input="5.0000"))
    assert book.problem is None
    assert price(book, "demo", Usage(input=1_000_000, output=0)).cost == 5 * 10**12
    path.unlink()
    assert "cannot be read" in (book.problem or "")
    assert "The prices of before are in force" in (book.problem or "")


def test_a_file_that_is_wrong_from_the_start_prices_nothing_without_a_flag(tmp_path: Path) -> None:
    path = own(tmp_path, "{")
    book = PriceBook(path, extra=[ILLUSTRATIVE])
    priced = price(book, "gpt-4.1", Usage(input=10, output=0), service_tier="odd")
    assert (priced.price_source, priced.flags) == ("price book", ("service_tier_without_price", "own_prices_wrong"))
    assert price(book, "demo", Usage(input=1, output=0), reported=Decimal(1)).flags == ("own_prices_wrong",)
    assert price(book, "offline", Usage(input=1, output=0)).flags == ("own_prices_wrong",)
    assert "The built-in prices are in force" in (book.problem or "")
    with pytest.raises(PriceFileError, match="not readable as JSON"):
        book.check()
    path.write_text(one_model())
    book.check()
    assert price(book, "demo", Usage(input=1_000_000, output=0)) == replace(
        price(PriceBook(path), "demo", Usage(input=1_000_000, output=0)), flags=()
    )


def test_an_optional_file_is_noticed_when_it_comes_and_when_it_goes(tmp_path: Path) -> None:
    path = tmp_path / "prices.json"
    book = PriceBook(path, optional=True)
    usage = Usage(input=1_000_000, output=0)
    assert (price(book, "demo", usage), book.problem) == (Priced(None, None), None)
    path.write_text(one_model())
    assert price(book, "demo", usage).cost == 10**12
    path.write_text("{")
    assert price(book, "demo", usage).flags == ("own_prices_wrong",)
    path.unlink()
    assert (price(book, "demo", usage), book.problem) == (Priced(None, None), None)


def test_a_file_that_becomes_wrong_is_logged_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = own(tmp_path, one_model())
    book = PriceBook(path)
    book.check()
    path.write_text("{")
    for _ in range(3):
        assert book.problem
    assert [record.levelname for record in caplog.records] == ["WARNING"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[]", "it needs a list `models`"),
        ('{"models": [{"input": 1}]}', r"models\[0\].id must be the model's name"),
        (one_model(input="free"), r"models\[0\].input must be a number of dollars, 0 or more \(got 'free'\)"),
        (one_model(output=-1), r"models\[0\].output must be"),
        (one_model(output=True), r"models\[0\].output must be"),
        (one_model(cache_raed="0.1"), r"models\[0\].cache_raed is no rate that is known; the choice is: input, output"),
        (one_model(valid_from="soon"), r"models\[0\].valid_from must be a date such as"),
        (one_model(tiers=[{"prompt_up_to": "x", "input": 1}]), r"tiers\[0\].prompt_up_to must be a whole number"),
        ('{"models": [], "unit": "EUR a token"}', "unit is 'EUR a token'; write `USD per 1,000,000 tokens`"),
        ('{"models": [{"id": "demo", "output": 1}]}', r"models\[0\].input is missing"),
        (one_model(input="3000000"), "check `unit`"),
        ('{"models": [], "service_tiers": {"flex": {"factor": "half"}}}', "service_tiers.flex.factor must be"),
    ],
)
def test_a_wrong_price_file_is_told_in_one_sentence(tmp_path: Path, text: str, words: str) -> None:
    path = own(tmp_path, text)
    with pytest.raises(PriceFileError, match=words) as told:
        PriceBook(path).check()
    assert str(path) in told.value.message
    assert "\n" not in told.value.message


def test_a_missing_price_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(PriceFileError, match="cannot be read"):
        PriceBook(tmp_path / "none.toml").check()


def test_remarks_in_a_price_file_do_no_harm(tmp_path: Path) -> None:
    assert PriceBook(own(tmp_path, one_model(note="from the invoice"))).problem is None


def test_a_reported_cost_helps_only_where_nothing_else_has_the_model(tmp_path: Path) -> None:
    book = PriceBook(own(tmp_path, one_model(output="1")))
    usage = Usage(input=1_000_000, output=0)
    known = price(book, "demo", usage, reported=Decimal("1.005"))
    assert (known.cost, known.price_source, known.flags) == (10**12, "own", ())
    assert price(book, "demo", usage, reported=Decimal("1.02")).flags == ("reported_cost_differs",)
    unknown = price(book, "mystery", usage, reported=Decimal("0.25"))
    assert (unknown.cost, unknown.price_source) == (250_000_000_000, "reported")


def test_rounding_is_half_even_and_once_a_call(tmp_path: Path) -> None:
    book = PriceBook(own(tmp_path, one_model(input="0.0000005", output="0.0000005")))
    assert [price(book, "demo", Usage(input=tokens, output=0)).cost for tokens in (1, 2, 3)] == [0, 1, 2]
    assert price(book, "demo", Usage(input=1, output=2)).cost == 2


def test_unknown_usage_has_no_cost_and_zero_usage_costs_nothing(tmp_path: Path) -> None:
    book = PriceBook(own(tmp_path, one_model()))
    assert price(book, "demo", Usage(input=5), usage_state="unknown").cost is None
    assert price(book, "demo", Usage(input=0, output=0)).cost == 0


def test_a_class_without_a_rate_of_its_own_is_charged_like_its_whole(tmp_path: Path) -> None:
    book = PriceBook(own(tmp_path, one_model(output="10")))
    usage = Usage(input=100, output=50, cache_read=30, cache_write=20, cache_write_1h=5, reasoning=10, input_audio=7)
    priced = price(book, "demo", usage)
    assert {part.token_class: part.tokens for part in priced.parts} == {
        "input": 43,
        "input_audio": 7,
        "cache_read": 30,
        "cache_write_5m": 15,
        "cache_write_1h": 5,
        "output": 40,
        "reasoning": 10,
    }
    assert priced.cost == 600_000_000
    assert sum(part.cost for part in priced.parts) == Decimal("0.0006")


def test_details_larger_than_their_whole_change_no_total() -> None:
    assert Usage(input=10, output=5, cache_read=20, reasoning=9).classes() == {"input": 10, "output": 5}


def test_a_model_without_output_rate_has_no_price_for_output(tmp_path: Path) -> None:
    book = PriceBook(own(tmp_path, one_model()))
    assert price(book, "demo", Usage(input=5, output=1)).cost is None
