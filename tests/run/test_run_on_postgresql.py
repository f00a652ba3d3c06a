from pathlib import Path

from runs import approve, plan, run_to_pause, small_plandeck, step

from agent.records import RunStatus


def test_a_run_goes_the_whole_way_on_postgresql(tmp_path: Path, postgresql_url: str, engine: str) -> None:
    answers = {"propose_plan": [plan(step("s1", sku="B-7"), step("s2", "note", ("s1",), text="12"))]}
    with small_plandeck(tmp_path, answers, database_url=postgresql_url) as (app, _, calls):
        done = approve(app, run_to_pause(app))
        assert (done.status, done.engine) == (RunStatus.SUCCEEDED, engine), done.error
        assert calls == [("lookup", "B-7"), ("note", "12")]
    assert not list(tmp_path.glob("*.db"))

    with small_plandeck(tmp_path, answers, database_url=postgresql_url) as (app, _, _calls):
        assert app.records.run(app.project, done.run_id) == done
        assert app.spans.run_usage(app.project, done.run_id).input_tokens == 700


def test_words_that_postgresql_does_not_hold_do_not_stop_a_run(
    tmp_path: Path, postgresql_url: str, engine: str
) -> None:
    words = "NUL \x00 inside"
    named = plan(step("s1", sku="B-7")) | {"goal": words, "rationale": words}
    answers = {"propose_plan": [named], "answer": [f"{words} [1]"]}
    with small_plandeck(tmp_path, answers, database_url=postgresql_url) as (app, _, _calls):
        done = approve(app, run_to_pause(app))
        assert done.status is RunStatus.SUCCEEDED, done.error
