from pathlib import Path

import pytest
from command_line import CommandLine
from runs import write_agent


@pytest.fixture
def plandeck(tmp_path: Path) -> CommandLine:
    return CommandLine(tmp_path / "home")


def test_agents_are_listed_with_what_they_are_and_what_is_wrong(plandeck: CommandLine) -> None:
    write_agent(plandeck.home, "buyer", owner="ana", mode="react", tools=["calculator"])
    write_agent(plandeck.home, "broken", mode="plan")
    found = {agent["name"]: agent for agent in plandeck.json("agents", "agents")["agents"]}
    assert list(found) == ["analyst", "explorer", "assistant", "broken", "buyer"]
    assert (found["buyer"]["owner"], found["buyer"]["mode"]) == ("ana", "react")
    assert found["buyer"]["tools"] == {"calculator": 1}
    assert found["buyer"]["problem"] is None
    assert "agents/broken.yaml, line 3" in found["broken"]["problem"]
    assert "cannot be used" in plandeck("agents").out


def test_doctor_names_the_fault_of_a_manifest(plandeck: CommandLine) -> None:
    write_agent(plandeck.home, "broken", mode="plan")
    checks = {check["name"]: check for check in plandeck.json("checks", "doctor", code=1)}
    assert not checks["agents"]["ok"]
    assert "agents/broken.yaml, line 3: mode is 'plan'" in checks["agents"]["detail"]


def test_a_run_takes_the_agents_mode_unless_another_is_given(plandeck: CommandLine) -> None:
    own = plandeck.json("run", "run", "Look", "--agent", "explorer", "--detach")
    assert (own["agent"], own["mode"]) == ("explorer", "react")
    assert own["agent_version"].startswith("1+")
    assert plandeck.json("run", "run", "Look", "--agent", "explorer", "--mode", "auto", "--detach")["mode"] == "auto"


def test_an_unknown_agent_or_mode_is_refused_with_the_choices(plandeck: CommandLine) -> None:
    nobody = plandeck("run", "Look", "--agent", "nobody")
    assert (nobody.code, nobody.out) == (1, "")
    assert "the choice is: analyst, explorer, assistant." in nobody.err
    assert "the choice is: direct, react, plan_execute, auto." in plandeck("run", "Look", "--mode", "fast").err
