import csv
import io

from cost_rows import row

from dashboard.costs.export import csv_text


def test_the_export_is_exact_and_harmless_in_a_spreadsheet() -> None:
    rows = [
        row("0.000000000001", 5, day="2026-11-18", model="=HYPERLINK(1)"),
        row(None, None, day="2026-11-18", model=None, unpriced_calls=1, made_up="0.5"),
    ]
    first, second = csv.DictReader(io.StringIO(csv_text(rows, ("day", "model"))))
    assert (first["day"], first["model"], first["real_cost_usd"], first["input_tokens"]) == (
        "2026-11-18",
        "'=HYPERLINK(1)",
        "0.000000000001",
        "5",
    )
    assert (second["model"], second["real_cost_usd"], second["input_tokens"], second["unpriced_calls"]) == (
        "",
        "",
        "",
        "1",
    )
    assert (first["illustrative_cost_usd"], second["illustrative_cost_usd"]) == ("", "0.5")
