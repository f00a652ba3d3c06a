import json
import socket
from pathlib import Path

import pytest
from command_line import CommandLine
from served import free_port
from shape_schemas import assert_shape

NAMES = [
    "python",
    "settings",
    "home",
    "records",
    "spans",
    "checkpoints",
    "stores",
    "prices",
    "provider",
    "tools",
    "agents",
    "port",
]


def checks(plandeck: CommandLine) -> tuple[int, dict[str, dict]]:
    answer = plandeck("doctor", "--json")
    document = json.loads(answer.out)
    assert_shape("checks", document)
    return answer.code, {check["name"]: check for check in document}


def healthy(home: Path, **settings: str) -> CommandLine:
    return CommandLine(home).with_settings(PLANDECK_PORT=str(free_port()), **settings)


def test_a_healthy_machine_passes_every_check_and_is_left_as_it_was(tmp_path: Path) -> None:
    code, found = checks(healthy(tmp_path / "home"))
    assert (code, list(found)) == (0, NAMES)
    assert all(check["ok"] and check["remedy"] is None for check in found.values())
    assert not list((tmp_path / "home").glob(".doctor*"))


@pytest.mark.parametrize(
    ("settings", "name", "told"),
    [
        ({"PLANDECK_PROVIDER": "opnai"}, "provider", "openai"),
        ({"PLANDECK_PROVIDER": "openai", "OPENAI_API_KEY": ""}, "provider", "OPENAI_API_KEY"),
        ({"PLANDECK_HOST": "0.0.0.0"}, "port", "sign-in"),
        ({"PLANDECK_PRICES": "/nowhere/prices.toml"}, "prices", "/nowhere/prices.toml cannot be read"),
        ({"PLANDECK_STORES": "nothing"}, "stores", "'nothing'"),
        ({"PLANDECK_STORES": "mine=/nowhere/c.db"}, "stores", "/nowhere/c.db"),
        ({"PLANDECK_STORES": "mine=postgresql://li:s3cret@127.0.0.1:1/none"}, "stores", "Store mine"),
    ],
)
def test_what_is_wrong_fails_its_own_check_and_names_the_remedy(
    tmp_path: Path, settings: dict[str, str], name: str, told: str
) -> None:
    code, found = checks(healthy(tmp_path / "home", **settings))
    assert code == 1
    assert [check["name"] for check in found.values() if not check["ok"]] == [name]
    assert told in found[name]["detail"]
    assert found[name]["remedy"]
    assert "s3cret" not in json.dumps(found)


def test_a_wrong_price_file_in_the_home_is_named_with_its_fault_and_a_right_one_too(tmp_path: Path) -> None:
    file = tmp_path / "prices.toml"
    file.write_text('[[models]]\nid = "demo"\ninput = "free"\n')
    code, found = checks(healthy(tmp_path))
    assert (code, found["prices"]["ok"]) == (1, False)
    assert str(file) in found["prices"]["detail"]
    assert "models[0].input" in found["prices"]["detail"]
    file.write_text('[[models]]\nid = "demo"\ninput = 1\n')
    code, found = checks(healthy(tmp_path))
    assert code == 0
    assert str(file) in found["prices"]["detail"]


def test_damaged_files_fail_and_the_rest_is_still_checked(tmp_path: Path) -> None:
    for file in ("records.db", "spans.db", "checkpoints.db"):
        (tmp_path / file).write_bytes(b"no database" * 1_000)
    code, found = checks(healthy(tmp_path))
    assert code == 1
    assert [name for name in NAMES if not found[name]["ok"]] == ["records", "spans", "checkpoints"]


def test_a_wrong_setting_is_told_and_ends_the_examination(tmp_path: Path) -> None:
    code, found = checks(CommandLine(tmp_path).with_settings(PLANDECK_PORT="many"))
    assert (code, list(found)) == (1, ["python", "settings"])
    assert "PLANDECK_PORT" in found["settings"]["detail"]


def test_a_busy_port_fails_its_check(tmp_path: Path) -> None:
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        holder.listen()
        port = str(holder.getsockname()[1])
        code, found = checks(CommandLine(tmp_path / "home").with_settings(PLANDECK_PORT=port))
    assert (code, found["port"]["ok"]) == (1, False)
    assert port in found["port"]["detail"]


def test_a_home_that_cannot_be_written_fails_its_check(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.write_text("a file")
    code, found = checks(healthy(home))
    assert code == 1
    assert not found["home"]["ok"]
    assert "PLANDECK_HOME" in found["home"]["remedy"]


def test_a_person_reads_a_table(tmp_path: Path) -> None:
    answer = healthy(tmp_path / "home")("doctor")
    assert answer.code == 0
    assert all(name in answer.out for name in NAMES)
