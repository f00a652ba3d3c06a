import json
from pathlib import Path

import pytest
from command_line import CommandLine

TASK = (
    "Which three projects cost most in the latest month with data, and did any exceed its budget? Write a short report."
)


@pytest.fixture
def plandeck(tmp_path: Path) -> CommandLine:
    return CommandLine(tmp_path / "home")


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> tuple[CommandLine, dict]:
    """A home with one finished run, which tests only read."""
    plandeck = CommandLine(tmp_path_factory.mktemp("done") / "home")
    return plandeck, plandeck.json("run", "run", TASK, "--approve-as", "li")


def waiting(plandeck: CommandLine) -> tuple[dict, dict]:
    run = plandeck.json("run", "run", TASK)
    (request,) = plandeck.json("approvals", "approvals")["approvals"]
    return run, request


def test_a_run_that_approves_itself_ends_with_answer_cost_and_finished_steps(done: tuple[CommandLine, dict]) -> None:
    _, run = done
    assert (run["status"], run["stop_reason"], run["error"]) == ("succeeded", "completed", None)
    assert run["steps_done"] == run["steps_total"] == len(run["plan"]["steps"]) > 1
    assert run["answer"]
    assert run["sources"]
    assert float(run["cost_usd"]) > 0
    assert run["usage"]["calls"] > run["steps_total"]


def test_runs_show_usage_traces_and_threads_tell_of_the_same_run(done: tuple[CommandLine, dict]) -> None:
    plandeck, run = done
    assert plandeck.json("runs", "runs") == {"runs": [run], "next_cursor": None}
    assert plandeck.json("run", "show", run["run_id"]) == run
    usage = plandeck.json("usage", "usage", "--by", "run,role")
    assert {row["run"] for row in usage["rows"]} == {run["run_id"]}
    assert {row["role"] for row in usage["rows"]} == {"planning", "execution", "check", "synthesis"}
    assert usage["total"]["cost_usd"] == run["cost_usd"]
    (trace,) = plandeck.json("traces", "traces")["traces"]
    assert (trace["trace_id"], trace["cost_usd"]) == (run["trace_id"], run["cost_usd"])
    shown = plandeck.json("trace", "trace", run["trace_id"])
    assert len(shown["spans"]) == trace["span_count"]
    assert sum(span["counted"] for span in shown["spans"]) == run["usage"]["calls"]
    (thread,) = plandeck.json("threads", "threads")["threads"]
    assert (thread["thread_id"], thread["status"]) == (run["thread_id"], "finished")


def test_made_up_money_is_called_so_wherever_it_is_shown(done: tuple[CommandLine, dict]) -> None:
    plandeck, run = done
    for words in (["show", run["run_id"]], ["usage"], ["traces"], ["trace", run["trace_id"]]):
        assert f"${run['cost_usd']} made-up" in plandeck(*words).out


def test_what_a_yes_would_allow_is_shown_before_it_is_asked_for(plandeck: CommandLine) -> None:
    run, request = waiting(plandeck)
    shown = " ".join(plandeck("approvals").out.split())
    assert TASK in shown
    for step in run["plan"]["steps"]:
        told = [step["description"], f"{step['tool']} ({step['effect']})", f"done when: {step['acceptance_criteria']}"]
        for words in (*told, *map(str, step["args"].values())):
            assert " ".join(words.split()) in shown
    assert request["hash"] in shown


def test_the_history_of_a_run_replays_and_its_states_differ(done: tuple[CommandLine, dict]) -> None:
    plandeck, run = done
    history = plandeck.json("history", "history", run["thread_id"])
    ids = [item["checkpoint_id"] for item in history["checkpoints"]]
    assert len(ids) > run["steps_total"]
    page = plandeck.json("history", "history", run["thread_id"], "--limit", "2")
    rest = plandeck.json("history", "history", run["thread_id"], "--before", page["next_cursor"])
    assert [item["checkpoint_id"] for item in (*page["checkpoints"], *rest["checkpoints"])] == ids
    newest = plandeck.json("state", "state", run["thread_id"])
    assert newest["checkpoint_id"] == ids[0]
    assert newest["values"]["answer"] == run["answer"]
    changes = plandeck.json("diff", "diff", run["thread_id"], ids[1], ids[0])["changes"]
    assert "answer" in {change["path"] for change in changes}
    assert plandeck.json("diff", "diff", run["thread_id"], ids[0], ids[0])["changes"] == []


@pytest.mark.parametrize(
    "words",
    [
        ["runs"],
        ["show", "RUN"],
        ["approvals", "--status", "all"],
        ["usage", "--by", "day,model"],
        ["usage"],
        ["traces"],
        ["trace", "TRACE"],
        ["threads"],
        ["history", "THREAD"],
        ["state", "THREAD"],
    ],
    ids=lambda words: words[0],
)
def test_without_json_a_person_can_read_it(done: tuple[CommandLine, dict], words: list[str]) -> None:
    plandeck, run = done
    names = {"RUN": run["run_id"], "TRACE": run["trace_id"], "THREAD": run["thread_id"]}
    answer = plandeck(*(names.get(word, word) for word in words))
    assert answer.code == 0
    assert answer.out.strip()
    assert not answer.out.startswith(("{", "["))


def test_a_resumed_finished_run_is_answered_as_it_is_without_a_model_call(done: tuple[CommandLine, dict]) -> None:
    plandeck, run = done
    assert plandeck.json("run", "resume", run["thread_id"]) == {**run, "saved": None}


def test_resuming_says_what_it_saved(plandeck: CommandLine) -> None:
    run, _ = waiting(plandeck)
    nothing = "Resumed, 0 steps kept, saved 0 model calls, 0 tool calls, 0 tokens, $0.0000."
    assert nothing in plandeck("resume", run["thread_id"]).out
    saved = plandeck.json("run", "resume", run["thread_id"])["saved"]
    assert saved == {
        "steps": 0,
        "llm_calls": 0,
        "tool_calls": 0,
        "tokens": 0,
        "cost_usd": "0",
        "illustrative": False,
    }


def test_a_run_that_fails_is_answered_whole_and_exits_with_1(plandeck: CommandLine) -> None:
    failed = plandeck.json("run", "run", "Tell me a joke about cats", code=1)
    assert (failed["status"], failed["stop_reason"]) == ("failed", "empty_plan")
    assert plandeck.json("run", "resume", failed["thread_id"], code=1)["status"] == "failed"
    assert plandeck.json("run", "show", failed["run_id"])["status"] == "failed"
    told = plandeck("run", "Tell me a joke about cats")
    assert told.code == 1
    assert "failed, empty_plan" in told.out


def test_a_decision_stands_although_its_run_is_cancelled_by_it_and_only_resuming_tells(plandeck: CommandLine) -> None:
    run, request = waiting(plandeck)
    options = ("--hash", request["hash"], "--as", "li", "--note", "too dear")
    assert plandeck.json("approval", "decide", request["request_id"], "reject", *options)["status"] == "rejected"
    assert plandeck.json("run", "resume", run["thread_id"], code=1)["status"] == "cancelled"


def test_a_run_waits_for_its_plan_and_goes_on_with_the_decision(plandeck: CommandLine) -> None:
    run, request = waiting(plandeck)
    assert (run["status"], run["steps_done"], run["answer"]) == ("waiting_human", 0, None)
    assert (request["run_id"], request["hash"], request["decision"]) == (run["run_id"], run["plan"]["hash"], None)
    decided = plandeck.json(
        "approval", "decide", request["request_id"], "accept", "--hash", request["hash"], "--as", "li"
    )
    assert (decided["status"], decided["decided_by"]) == ("approved", "li")
    assert decided["applied_at"]
    assert plandeck.json("run", "show", run["run_id"])["status"] == "succeeded"
    assert plandeck.json("approvals", "approvals")["approvals"] == []
    assert len(plandeck.json("approvals", "approvals", "--status", "approved")["approvals"]) == 1


def test_a_decision_on_another_hash_or_a_second_one_is_refused_and_changes_nothing(plandeck: CommandLine) -> None:
    run, request = waiting(plandeck)
    decide = ("decide", request["request_id"])
    stale = plandeck(*decide, "approve", "--hash", "0" * 64, "--as", "li", "--json")
    assert (stale.code, stale.error) == (1, "stale_hash")
    assert plandeck(*decide, "reject", "--hash", request["hash"], "--as", "li", "--json").error == "reason_missing"
    assert plandeck.json("run", "show", run["run_id"])["status"] == "waiting_human"
    plandeck.json("approval", *decide, "ignore", "--hash", request["hash"], "--as", "li", "--note", "too dear")
    second = plandeck(*decide, "approve", "--hash", request["hash"], "--as", "omar", "--json")
    assert (second.code, second.error) == (1, "already_decided")
    ended = plandeck.json("run", "show", run["run_id"])
    assert (ended["status"], ended["stop_reason"]) == ("cancelled", "rejected")


def test_an_edited_plan_from_a_file_is_what_runs(plandeck: CommandLine, tmp_path: Path) -> None:
    run, request = waiting(plandeck)
    plan = request["payload"]["plan"]
    plan["steps"] = plan["steps"][:1]
    file = tmp_path / "plan.json"
    file.write_text(json.dumps({"plan": plan}))
    options = ("--hash", request["hash"], "--as", "li", "--plan", str(file))
    assert plandeck.json("approval", "decide", request["request_id"], "edit", *options)["status"] == "edited"
    ended = plandeck.json("run", "show", run["run_id"])
    assert (ended["status"], ended["plan"]["source"], ended["plan_version"]) == ("succeeded", "person", 2)
    assert ended["plan"]["parent_hash"] == request["hash"]
    assert ended["steps_total"] == ended["steps_done"] == 1


@pytest.mark.parametrize(
    ("content", "code"),
    [
        ("not json", "not_json"),
        ("[1]", "invalid_plan"),
        ('{"steps": "none"}', "invalid_plan"),
        ('{"steps": [{"id": 1}]}', "invalid_plan"),
        ('{"steps": []}', "invalid_plan"),
    ],
)
def test_a_file_that_is_no_plan_is_refused_in_one_sentence(
    plandeck: CommandLine, tmp_path: Path, content: str, code: str
) -> None:
    run, request = waiting(plandeck)
    file = tmp_path / "plan.json"
    file.write_text(content)
    options = ("--hash", request["hash"], "--as", "li", "--plan", str(file))
    answer = plandeck("decide", request["request_id"], "edit", *options, "--json")
    assert (answer.code, answer.error) == (1, code)
    assert plandeck.json("run", "show", run["run_id"])["status"] == "waiting_human"


def test_feedback_sends_the_plan_back_and_a_new_version_waits(plandeck: CommandLine) -> None:
    run, request = waiting(plandeck)
    options = ("--hash", request["hash"], "--as", "li", "--note", "only the two dearest")
    assert plandeck.json("approval", "decide", request["request_id"], "respond", *options)["status"] == "responded"
    again = plandeck.json("run", "show", run["run_id"])
    assert (again["status"], again["plan_version"]) == ("waiting_human", 2)
    (pending,) = plandeck.json("approvals", "approvals")["approvals"]
    assert pending["hash"] == again["plan"]["hash"]


def test_requests_are_listed_in_pages(plandeck: CommandLine) -> None:
    requests = [waiting_of(plandeck, plandeck.json("run", "run", TASK)) for _ in range(3)]
    first = plandeck.json("approvals", "approvals", "--limit", "2")
    assert [item["request_id"] for item in first["approvals"]] == requests[:2]
    rest = plandeck.json("approvals", "approvals", "--limit", "2", "--before", first["next_cursor"])
    assert [item["request_id"] for item in rest["approvals"]] == requests[2:]
    assert rest["next_cursor"] is None


def waiting_of(plandeck: CommandLine, run: dict) -> str:
    found = plandeck.json("approvals", "approvals")["approvals"]
    return next(item["request_id"] for item in found if item["run_id"] == run["run_id"])


def test_a_detached_run_is_only_queued_and_can_be_cancelled(plandeck: CommandLine) -> None:
    run = plandeck.json("run", "run", TASK, "--detach", "--thread", "mine")
    assert (run["status"], run["thread_id"], run["plan"]) == ("queued", "mine", None)
    assert plandeck.json("run", "cancel", run["run_id"])["status"] == "cancelled"
    again = plandeck("cancel", run["run_id"], "--json")
    assert (again.code, again.error) == (1, "already_ended")


def test_a_run_tells_what_happens_on_stderr_and_how_to_go_on(plandeck: CommandLine) -> None:
    answer = plandeck("run", TASK)
    assert answer.code == 0
    assert "plan version 1" in answer.err
    assert "plandeck decide q-" in answer.out
    assert "approve --hash" in answer.out


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["run", ""], "empty_task"),
        (["run", "x" * 100_000], "task_too_long"),
        (["run", TASK, "--agent", "nobody"], "not_found"),
        (["run", TASK, "--mode", "fast"], "unknown_mode"),
        (["show", "r-none"], "not_found"),
        (["cancel", "r-none"], "not_found"),
        (["resume", "th-none"], "not_found"),
        (["decide", "q-none", "approve", "--hash", "0", "--as", "li"], "not_found"),
        (["runs", "--before", "r-none"], "not_found"),
    ],
    ids=lambda value: " ".join(value)[:30] if isinstance(value, list) else value,
)
def test_what_is_not_there_or_not_allowed_is_one_sentence_and_exit_code_1(
    plandeck: CommandLine, words: list[str], code: str
) -> None:
    answer = plandeck(*words, "--json")
    assert (answer.code, answer.error) == (1, code)
    told = plandeck(*words)
    assert told.code == 1
    assert told.err.startswith("plandeck: ")
    assert len(told.err.strip().splitlines()) == 1


@pytest.mark.parametrize(
    "words",
    [
        ["nothing"],
        ["run"],
        ["show"],
        ["runs", "--status", "thinking"],
        ["runs", "--limit", "0"],
        ["approvals", "--status", "thinking"],
        ["decide", "q-1", "approve"],
        ["decide", "q-1", "perhaps", "--hash", "0", "--as", "li"],
        ["usage", "--by", "colour"],
        ["usage", "--since", "yesterday"],
        ["traces", "--status", "bad"],
        ["serve", "--port", "0"],
        ["serve", "--port", "http"],
    ],
    ids=" ".join,
)
def test_wrong_usage_is_exit_code_2(plandeck: CommandLine, words: list[str]) -> None:
    answer = plandeck(*words)
    assert answer.code == 2
    assert answer.err
    assert answer.out == ""


def test_lists_are_paged(plandeck: CommandLine) -> None:
    ids = [plandeck.json("run", "run", TASK, "--detach")["run_id"] for _ in range(3)]
    first = plandeck.json("runs", "runs", "--limit", "2")
    second = plandeck.json("runs", "runs", "--limit", "2", "--before", first["next_cursor"])
    assert [run["run_id"] for run in (*first["runs"], *second["runs"])] == ids[::-1]
    assert second["next_cursor"] is None


def test_projects_do_not_see_each_other(plandeck: CommandLine) -> None:
    run = plandeck.json("run", "run", TASK, "--detach", "--project", "finance")
    assert run["project"] == "finance"
    assert plandeck.json("runs", "runs")["runs"] == []
    assert plandeck.json("runs", "runs", "--project", "finance")["runs"] == [run]
    assert plandeck("show", run["run_id"], "--json").error == "not_found"
