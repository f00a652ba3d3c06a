from pathlib import Path

from runs import approve, plan, run_to_pause, small_plandeck, step

from agent.records import RunStatus
from agent.run.asking import Growing


def test_the_answer_is_seen_while_it_is_written_and_its_draft_goes_when_it_is_complete(tmp_path: Path) -> None:
    words = " ".join(f"word{n}" for n in range(40)) + " [1]."
    with small_plandeck(tmp_path, {"propose_plan": [plan(step("s1", sku="B-7"))], "": [words]}) as (app, model, _):
        seen: list[str] = []
        keep = app.records.ledger.put_draft

        def watching(*given: object, **named: object) -> None:
            keep(*given, **named)  # type: ignore[arg-type]
            seen.append(app.records.ledger.draft(app.project, str(given[1])) or "")

        app.records.ledger.put_draft = watching  # type: ignore[method-assign]
        done = approve(app, run_to_pause(app))
        assert (done.status, done.answer) == (RunStatus.SUCCEEDED, words)
        assert seen[0]
        assert words.startswith(seen[0])
        assert app.records.ledger.draft(app.project, done.run_id) is None
        assert model.requests[-1]["stream"] is True
        usage = app.spans.run_usage(app.project, done.run_id)
        assert usage.calls_without_usage == 0


def test_a_growing_text_is_shown_whole_and_not_for_every_piece() -> None:
    shown: list[str] = []
    times = iter([0.0, 0.05, 0.12, 0.13])
    growing = Growing(shown.append, clock=lambda: next(times))
    for piece in ("a", "b", "c", "d"):
        growing.add(piece)
    assert shown == ["a", "abc"]
