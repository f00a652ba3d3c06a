import json
import secrets
from pathlib import Path

import pytest
from command_line import CommandLine

PLAN = {
    "goal": "Know the stock",
    "rationale": "It is asked for.",
    "steps": [
        {
            "id": "s1",
            "description": "Look",
            "tool": "lookup",
            "args": {},
            "dependencies": [],
            "acceptance_criteria": "A number is shown",
        }
    ],
}


@pytest.fixture
def plandeck(tmp_path: Path) -> CommandLine:
    return CommandLine(tmp_path / "home")


def write(folder: Path, name: str, content: str | bytes) -> str:
    file = folder / name
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    return str(file)


# parse-plan


def test_a_good_plan_is_ok(plandeck: CommandLine, tmp_path: Path) -> None:
    file = write(tmp_path, "plan.json", json.dumps(PLAN))
    parsed = plandeck.json("parsed_plan", "parse-plan", file, "--tools", "lookup, mail")
    assert (parsed["outcome"], parsed["repairs"], parsed["errors"]) == ("ok", [], [])
    assert parsed["plan"]["steps"][0]["effect"] == "write_system"


def test_without_tools_the_built_in_ones_are_known(plandeck: CommandLine, tmp_path: Path) -> None:
    file = write(tmp_path, "plan.json", json.dumps(PLAN))
    parsed = plandeck.json("parsed_plan", "parse-plan", file)
    assert (parsed["outcome"], parsed["plan"]) == ("invalid", None)
    assert [(error["code"], error["step"]) for error in parsed["errors"]] == [("unknown_tool", "s1")]


def test_an_untidy_answer_is_repaired_also_from_standard_input(plandeck: CommandLine) -> None:
    text = f"Here is my plan:\n```json\n{json.dumps(PLAN)}\n```\nI hope it helps."
    answer = plandeck("parse-plan", "-", "--tools", "lookup", "--json", given=text)
    assert json.loads(answer.out)["outcome"] == "repaired"
    told = plandeck("parse-plan", "-", "--tools", "lookup", given=text)
    assert told.code == 0
    assert "repaired: code_fence" in told.out


def test_more_steps_than_allowed_are_cut(plandeck: CommandLine, tmp_path: Path) -> None:
    steps = [{**PLAN["steps"][0], "id": f"s{n}"} for n in range(5)]
    file = write(tmp_path, "plan.json", json.dumps({**PLAN, "steps": steps}))
    parsed = plandeck.json("parsed_plan", "parse-plan", file, "--tools", "lookup", "--max-steps", "2")
    assert len(parsed["plan"]["steps"]) == 2
    assert any(repair.startswith("truncated") for repair in parsed["repairs"])


@pytest.mark.parametrize("content", [b"", b"\xff\xfe\x00", b"{" * 5_000, b"null", b'{"steps": []}', b"No."])
def test_what_is_no_plan_is_judged_and_does_not_fail(plandeck: CommandLine, tmp_path: Path, content: bytes) -> None:
    parsed = plandeck.json("parsed_plan", "parse-plan", write(tmp_path, "plan.txt", content))
    assert parsed["outcome"] == "invalid"
    assert parsed["errors"]


def test_a_file_that_is_missing_a_folder_or_far_too_long_is_refused(plandeck: CommandLine, tmp_path: Path) -> None:
    assert plandeck("parse-plan", str(tmp_path / "none"), "--json").error == "storage"
    assert plandeck("parse-plan", str(tmp_path), "--json").error == "storage"
    assert plandeck("parse-plan", write(tmp_path, "big", b"x" * 1_000_001), "--json").error == "file_too_long"


# ingest


def otlp(trace_id: str, span_id: str = "00000000000000a1") -> dict:
    attributes = [
        {"key": "gen_ai.operation.name", "value": {"stringValue": "chat"}},
        {"key": "gen_ai.request.model", "value": {"stringValue": "gpt-4o"}},
        {"key": "gen_ai.usage.input_tokens", "value": {"intValue": "1000"}},
        {"key": "gen_ai.usage.output_tokens", "value": {"intValue": "100"}},
    ]
    span = {
        "traceId": trace_id,
        "spanId": span_id,
        "name": "chat gpt-4o",
        "startTimeUnixNano": "1764547200000000000",
        "endTimeUnixNano": "1764547201500000000",
        "attributes": attributes,
    }
    return {"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}


def test_imported_spans_are_counted_priced_and_listed_once(plandeck: CommandLine, tmp_path: Path) -> None:
    first, second = secrets.token_hex(16), secrets.token_hex(16)
    whole = write(tmp_path, "whole.json", json.dumps(otlp(first)))
    lines = write(tmp_path, "lines.jsonl", "".join(json.dumps(otlp(trace)) + "\n" for trace in (first, second)))
    taken = plandeck.json("ingest", "ingest", whole, lines)
    assert taken == {"accepted": 3, "refused": 0, "errors": []}
    plandeck.json("ingest", "ingest", lines)
    usage = plandeck.json("usage", "usage", "--by", "day,model")
    assert [(row["day"], row["model"], row["calls"]) for row in usage["rows"]] == [("2025-12-01", "gpt-4o", 2)]
    assert usage["total"]["input_tokens"] == 2_000
    assert float(usage["total"]["cost_usd"]) > 0
    traces = plandeck.json("traces", "traces", "--limit", "1")
    rest = plandeck.json("traces", "traces", "--before", traces["next_cursor"])
    assert {item["trace_id"] for item in (*traces["traces"], *rest["traces"])} == {first, second}
    shown = plandeck.json("trace", "trace", first.upper())
    assert (shown["duration_ms"], shown["spans"][0]["counted"]) == (1500, True)


def test_usage_is_cut_to_a_period(plandeck: CommandLine, tmp_path: Path) -> None:
    plandeck.json("ingest", "ingest", write(tmp_path, "a.json", json.dumps(otlp(secrets.token_hex(16)))))

    def calls(*words: str) -> int:
        return int(plandeck.json("usage", "usage", *words)["total"]["calls"])

    assert calls("--since", "2025-12-01") == 1
    assert calls("--until", "2025-12-01") == 0
    assert calls("--since", "2025-12-01T00:00:00.000001Z") == 0
    assert calls("--since", "2025-12-01T01:00:00+01:00", "--until", "2025-12-01T00:00:01Z") == 1


def test_refused_spans_are_told_and_an_unreadable_file_fails_after_the_others(
    plandeck: CommandLine, tmp_path: Path
) -> None:
    bad = write(tmp_path, "bad.json", json.dumps(otlp(secrets.token_hex(16), span_id="zz")))
    taken = plandeck.json("ingest", "ingest", bad)
    assert (taken["accepted"], taken["refused"]) == (0, 1)
    assert "span id" in taken["errors"][0]
    good = write(tmp_path, "good.json", json.dumps(otlp(secrets.token_hex(16))))
    broken = write(tmp_path, "broken.json", "[1, 2")
    answer = plandeck("ingest", broken, good, str(tmp_path / "none.json"), "--json")
    assert (answer.code, answer.error) == (1, "unreadable_file")
    assert all(word in answer.out for word in ("broken.json", "none.json", "1 spans"))
    assert plandeck.json("usage", "usage")["total"]["calls"] == 1


def test_a_trace_that_is_not_there_is_not_found(plandeck: CommandLine) -> None:
    assert plandeck("trace", "0" * 32, "--json").error == "not_found"
    assert plandeck("traces", "--before", "nonsense", "--json").code == 1


# other stores


def test_a_store_is_named_by_path_or_by_setting(plandeck: CommandLine, tmp_path: Path) -> None:
    run = plandeck.json("run", "run", "Which region sold most in 2026?", "--thread", "mine")
    file = str(plandeck.home / "checkpoints.db")
    other = CommandLine(tmp_path / "other").with_settings(PLANDECK_STORES=f"theirs={file}")
    for store in (file, "theirs"):
        (thread,) = other.json("threads", "threads", "--store", store)["threads"]
        assert (thread["thread_id"], thread["status"]) == (run["thread_id"], "waiting")
        assert other.json("history", "history", "mine", "--store", store)["checkpoints"]
    assert other("threads", "--store", "nobody's", "--json").error == "not_found"
    assert other("history", "other", "--store", "theirs", "--json").error == "not_found"
    assert other("state", "mine", "1f0", "--store", "theirs", "--json").error == "not_found"
    assert other.json("threads", "threads")["threads"] == []
