from dataclasses import fields
from pathlib import Path
from textwrap import dedent

import pytest
from runs import Calls, small_registry, write_agent

from agent.errors import NotFoundError
from agent.manifests.catalogue import SHIPPED, Catalogue
from agent.manifests.manifest import LimitsPart, Manifest
from agent.manifests.reading import MAX_BYTES, ManifestError, read_manifest
from agent.records import Effect, Limits, Mode
from agent.run.policy import Behaviour, Degrade, Leave, Refusal, ReplanPolicy
from agent.settings import load_settings
from agent.tools.builtin import build_registry

REGISTRY = small_registry(Calls())
WHOLE = """
    name: buyer
    version: 3
    description: Looks after the stock.
    owner: ana
    mode: auto
    models:
      planner: {provider: openai, model: gpt-5}
    tools:
      - lookup
      - note: 2
    limits: {max_steps: 4, max_cost_usd: 0.5}
    replan: {policy: off}
    reflect: false
    reviewer: {threshold: 1}
    degrade: fail
    refusal: end
    approval: {send_external: refuse, draft: ask}
"""


def read(text: str) -> Manifest:
    return read_manifest(dedent(text).strip().encode(), "agents/buyer.yaml", REGISTRY)


def refusal(content: bytes) -> str:
    with pytest.raises(ManifestError) as caught:
        read_manifest(content, "agents/buyer.yaml", REGISTRY)
    return caught.value.message


def test_a_manifest_says_how_its_runs_go_about_things() -> None:
    manifest = read(WHOLE)
    leaves = {**Behaviour().leaves, Effect.SEND_EXTERNAL: Leave.REFUSE, Effect.DRAFT: Leave.ASK}
    assert manifest.behaviour == Behaviour(ReplanPolicy.OFF, Degrade.FAIL, Refusal.END, False, 1.0, leaves)
    assert manifest.limits.limits() == Limits(max_steps=4, max_cost_usd="0.50")
    assert (manifest.name, manifest.owner, manifest.mode) == ("buyer", "ana", Mode.AUTO)
    assert (manifest.models.planner.model, manifest.models.executor.model) == ("gpt-5", None)
    assert [tool.name for tool in manifest.tools_of(REGISTRY)] == ["lookup", "note"]
    assert Manifest.from_json(manifest.to_json()) == manifest


def test_what_a_manifest_leaves_out_is_as_the_code_has_it() -> None:
    manifest = read("name: buyer")
    assert (manifest.behaviour, manifest.limits.limits()) == (Behaviour(), Limits())
    assert [tool.name for tool in manifest.tools_of(REGISTRY)] == REGISTRY.names
    assert list(LimitsPart.model_fields) == [item.name for item in fields(Limits)]


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("name: x\nmode: plan", 2, "mode is 'plan' and should be one of direct, react, plan_execute, auto."),
        ("name: x\nmode:", 2, "mode is null and should be one of"),
        ("name: x\nmodes: auto", 2, "a manifest has no field 'modes'; the fields are name, version, description"),
        ("mode: auto", 1, "name is missing."),
        ("name: Big Buyer", 1, "should begin with a small letter"),
        ("name: x\nversion: 1.5", 2, "version is 1.5 and should be a whole number."),
        ("name: x\nlimits:\n  max_steps: eight", 3, "limits.max_steps is 'eight' and should be a whole number."),
        ("name: x\nlimits:\n  max_step: 1", 3, "limits has no field 'max_step'; the fields are max_steps,"),
        ("name: x\nlimits:\n\n  max_steps: 0", 4, "limits.max_steps is 0 and should be greater than or equal to 1."),
        ("name: x\nlimits: {max_cost_usd: .nan}", 2, "should be an amount in dollars."),
        ("name: x\nlimits: {max_steps: true}", 2, "limits.max_steps is true and should be a whole number."),
        ("name: x\nreplan: strict", 2, "replan is 'strict' and should be a mapping of fields."),
        ("name: x\nreplan:\n  policy: never", 3, "should be one of off, strict, adaptive."),
        ("name: x\nreviewer: {}", 2, "reviewer.threshold is missing."),
        ("name: x\nreviewer:\n  threshold: 2", 3, "should be less than or equal to 1."),
        ("name: x\nreflect: yes", 2, "reflect is 'yes' and should be true or false."),
        ("name: x\ndescription: 2026", 2, "description is 2026 and should be a text."),
        ("name: x\ndegrade: retry", 2, "should be one of fallback_plan, react, fail."),
        ("name: x\napproval:\n  send: allow", 3, "approval has no field 'send'; the fields are read, draft,"),
        ("name: x\napproval:\n  draft: maybe", 3, "should be one of allow, ask, refuse."),
        (
            "name: x\nmodels:\n  planner: {provider: opnai}",
            3,
            "models.planner.provider is 'opnai'; choose from offline,",
        ),
        ("name: x\nmodels:\n  judge: {}", 3, "models has no field 'judge'; the fields are planner, executor."),
        ("name: x\ntools: lookup", 2, "tools is 'lookup' and should be a list."),
        ("name: x\ntools:\n- lookup\n- nope", 4, "there is no tool 'nope'; choose from lookup, note."),
        ("name: x\ntools:\n- note: 1", 3, "the tool note is there in version 2, not in version 1."),
        ("name: x\ntools:\n- note\n- note", 4, "the tool note is there twice; keep one."),
        ("name: x\ntools:\n- 5", 3, "tools[1] is 5 and should be a tool's name"),
        ("name: x\nowner: a\nname: y", 3, "name is there twice; keep one."),
        ("name: x\nowner: &a [b]\nmode: *a", 3, "aliases are not read."),
        ("name: x\nowner: !!python/object/apply:os.system [ls]", 2, "the tag"),
        ('name: x\nowner: "\\0"', 2, "owner holds a character that cannot be stored."),
        ("name: x\n\towner: ana", 2, "not the YAML of a manifest"),
        ("name: x\n---\nname: y", 2, "another document"),
        ("- name: x", 1, "a manifest is a mapping of fields: name, version,"),
        ("", 1, "a manifest is a mapping of fields"),
        ("[" * 3_000, 1, "nested too deeply"),
    ],
)
def test_each_fault_is_one_sentence_with_file_line_field_and_choices(text: str, line: int, words: str) -> None:
    message = refusal(text.encode())
    assert message.startswith(f"agents/buyer.yaml, line {line}: ")
    assert words in message
    assert message.endswith(".")
    assert "\n" not in message


def test_every_fault_is_told_in_the_order_of_the_lines() -> None:
    message = refusal(b"name: x\nreflect: 1\nmodes: auto\nlimits: {max_steps: 0}\n")
    assert [message.index(f"line {line}:") for line in (2, 3, 4)] == sorted(
        message.index(f"line {line}:") for line in (2, 3, 4)
    )


def test_what_is_no_text_or_too_long_is_refused() -> None:
    assert "line 2: the text is not UTF-8" in refusal(b"name: x\nowner: \xff")
    assert "65,536 is the limit" in refusal(b"#" * (MAX_BYTES + 1))


def test_another_content_is_another_version_and_the_same_one_is_not() -> None:
    manifest = read(WHOLE)
    reordered = read("# the same\nreflect: false\n" + dedent(WHOLE).replace("reflect: false\n", ""))
    assert reordered.agent_version == manifest.agent_version
    assert read(WHOLE.replace("0.5", "0.50")).agent_version == manifest.agent_version
    assert manifest.agent_version.startswith("3+")
    for before, after in (("max_steps: 4", "max_steps: 5"), ("gpt-5", "gpt-6"), ("- lookup\n", ""), ("ana", "li")):
        assert read(WHOLE.replace(before, after)).agent_version != manifest.agent_version, before


def test_the_shipped_agents_are_right_and_of_three_modes(tmp_path: Path) -> None:
    registry = build_registry(load_settings(home=tmp_path))
    agents = Catalogue(tmp_path, registry).agents()
    assert [agent.name for agent in agents] == list(SHIPPED)
    assert [agent.problem for agent in agents] == [None] * 3
    manifests = {agent.name: agent.manifest for agent in agents if agent.manifest}
    assert [str(manifest.mode) for manifest in manifests.values()] == ["plan_execute", "react", "auto"]
    assert {tool.effect for tool in manifests["explorer"].tools_of(registry)} == {Effect.READ}


def test_an_own_manifest_stands_in_the_place_of_the_shipped_one_also_when_it_is_wrong(tmp_path: Path) -> None:
    catalogue = Catalogue(tmp_path, REGISTRY)
    write_agent(tmp_path, "analyst", mode="direct")
    write_agent(tmp_path, "buyer")
    assert catalogue.agent("analyst").mode is Mode.DIRECT
    assert [agent.name for agent in catalogue.agents()] == [*SHIPPED, "buyer"]
    write_agent(tmp_path, "analyst", mode="plan")
    with pytest.raises(ManifestError, match=r"agents/analyst.yaml, line 3: mode is 'plan'"):
        catalogue.agent("analyst")
    with pytest.raises(NotFoundError, match="the choice is: analyst, explorer, assistant, buyer"):
        catalogue.agent("nobody")


def test_two_files_of_one_name_are_both_refused(tmp_path: Path) -> None:
    write_agent(tmp_path, "buyer").rename(tmp_path / "agents" / "other.yaml")
    write_agent(tmp_path, "buyer")
    with pytest.raises(ManifestError, match=r"agents/buyer.yaml and agents/other.yaml both describe buyer"):
        Catalogue(tmp_path, REGISTRY).agent("buyer")


def test_a_manifest_that_cannot_be_read_is_told_like_a_wrong_one(tmp_path: Path) -> None:
    (tmp_path / "agents" / "folder.yaml").mkdir(parents=True)
    with pytest.raises(ManifestError, match=r"agents/folder.yaml cannot be read: Is a directory"):
        Catalogue(tmp_path, REGISTRY).agent("folder")
