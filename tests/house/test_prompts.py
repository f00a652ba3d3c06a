from agent.planning.prompts import PROPOSE_PLAN, plan_messages


def test_the_planning_prompt_has_every_part_that_it_promises() -> None:
    system = plan_messages("Count the stock", "### lookup\nLooks up stock.", 7)[0].text
    for part in (
        "you never execute anything",
        "at most 7",
        "### lookup",
        "## A good step",
        "Good because",
        "## A bad step",
        "Bad because",
        "fewest steps that each have a checkable criterion",
    ):
        assert part in system
    steps = PROPOSE_PLAN["parameters"]["properties"]["steps"]["items"]
    assert set(steps["required"]) == {"id", "description", "tool", "args", "dependencies", "acceptance_criteria"}


def test_what_people_wrote_is_told_to_the_planner() -> None:
    words = plan_messages("Task", "", 8, feedback=["no report"], refused=["cycle: s1"], previous={"goal": "g"})[1].text
    assert "- no report" in words
    assert "- cycle: s1" in words
    assert '"goal": "g"' in words
