import csv
import json
import sqlite3
import threading
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agent.errors import StorageError
from agent.tools import sql
from agent.tools.registry import OBSERVATION_CHARACTERS, Observation, ToolContext, ToolError
from agent.tools.sample import SamplePaths


def text(characters: int) -> str:
    """SQL for a text of so many characters, 100,000 at most."""
    return f"substr(replace('{'a' * 100}', 'a', '{'x' * 1_000}'), 1, {characters})"


ENDLESS = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n)"


def refusal(database: Path, statement: str, context: ToolContext, seconds: float = 5.0) -> ToolError:
    with pytest.raises(ToolError) as refused:
        sql.query(database, statement, context, seconds=seconds)
    return refused.value


def one_value(database: Path, expression: str, context: ToolContext) -> Any:
    observation = sql.query(database, f"SELECT {expression}", context)
    json.dumps(observation.to_json(), allow_nan=False)
    return observation.data["rows"][0][0]


def changed(database: Path, *statements: str) -> None:
    with closing(sqlite3.connect(database)) as connection, connection:
        for statement in statements:
            connection.execute(statement)


def test_rows_come_as_a_table_and_in_structure(sample: SamplePaths, tool_context: ToolContext) -> None:
    question = "SELECT id, name, NULL AS none FROM projects ORDER BY id LIMIT 2"
    assert sql.query(sample.database, question, tool_context) == Observation(
        text="2 rows:\nid | name | none\n1 | Atlas | NULL\n2 | Borealis | NULL",
        data={
            "columns": ["id", "name", "none"],
            "rows": [[1, "Atlas", None], [2, "Borealis", None]],
            "row_count": 2,
            "truncated": False,
        },
    )


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM sales",
        "UPDATE sales SET units = 0",
        "INSERT INTO sales (month) VALUES ('x')",
        "REPLACE INTO projects (id) VALUES (1)",
        "WITH x AS (SELECT 1) DELETE FROM sales",
        "DELETE FROM sales RETURNING *",
        "DROP TABLE sales",
        "CREATE TABLE t (a)",
        "CREATE TEMP TABLE t (a)",
        "CREATE TEMP VIEW v AS SELECT 1",
        "CREATE VIRTUAL TABLE t USING fts5(a)",
        "ALTER TABLE sales ADD COLUMN x",
        "ATTACH ':memory:' AS other",
        "ATTACH 'other.db' AS other",
        "DETACH main",
        "PRAGMA table_info(sales)",
        "PRAGMA writable_schema = 1",
        "SELECT * FROM pragma_table_info('sales')",
        "SELECT * FROM pragma_database_list",
        "VACUUM",
        "VACUUM INTO 'copy.db'",
        "ANALYZE",
        "REINDEX",
        "BEGIN",
        "COMMIT",
        "SAVEPOINT a",
        "EXPLAIN SELECT 1",
        "EXPLAIN QUERY PLAN SELECT 1",
        "/* hidden */ -- more\n DELETE FROM sales",
        "SELECT 1; DELETE FROM sales",
        "SELECT 1; SELECT 2",
        "SELECT 1;;SELECT 2",
        "",
        "   ",
        "-- nothing",
        ";",
    ],
)
def test_anything_but_one_select_is_refused(
    statement: str, sample: SamplePaths, tool_context: ToolContext, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    before = sample.database.read_bytes()
    assert refusal(sample.database, statement, tool_context).code == "not_a_select"
    assert sample.database.read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["artifacts", "home"]


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT 1;",
        "SELECT 1; -- a comment",
        "-- a comment\nSELECT 1 /* and another */ ;  ",
        "VALUES (1)",
        "WITH x AS (SELECT 1) SELECT * FROM x",
        "SELECT 'DROP TABLE sales; DELETE' WHERE 1",
        'SELECT 1 AS "delete"',
    ],
)
def test_a_select_in_any_dress_runs(statement: str, sample: SamplePaths, tool_context: ToolContext) -> None:
    assert sql.query(sample.database, statement, tool_context).data["row_count"] == 1


@pytest.mark.parametrize(
    "call",
    [
        "load_extension('x')",
        "LOAD_EXTENSION('x')",
        "readfile('/etc/passwd')",
        "writefile('x', 'y')",
        "edit('x')",
        "fts3_tokenizer('simple')",
        "zeroblob(1000000000)",
        "randomblob(1000000000)",
        "printf('%.*c', 2147483647, 'x')",
        "format('%.*c', 2147483647, 'x')",
        "json_group_array(name)",
        "sqlite_compileoption_get(1)",
    ],
)
def test_functions_that_reach_out_or_make_large_values_are_refused(
    call: str, sample: SamplePaths, tool_context: ToolContext
) -> None:
    assert refusal(sample.database, f"SELECT {call} FROM projects", tool_context).code == "sql_error"


@pytest.mark.parametrize("table", ["dbstat", "sqlite_stmt", "json_each('[1]')", "pragma_function_list"])
def test_tables_that_are_none_of_the_files_are_refused(
    table: str, sample: SamplePaths, tool_context: ToolContext
) -> None:
    refusal(sample.database, f"SELECT * FROM {table}", tool_context)


def test_common_functions_are_allowed(sample: SamplePaths, tool_context: ToolContext) -> None:
    calls = [
        "round(avg(amount_usd), 2)",
        "group_concat(DISTINCT category)",
        "strftime('%Y-%m', max(month))",
        "coalesce(sum(NULL), 0)",
        "upper(substr('abc', 1, 2)) || 1.5",
        "json_extract('{\"a\": 1}', '$.a')",
        "CURRENT_DATE > '2000-01-01'",
        "'abc' LIKE 'a%' AND 'abc' GLOB 'a*'",
    ]
    statement = f"SELECT {', '.join(calls)} FROM monthly_costs"
    assert None not in sql.query(sample.database, statement, tool_context).data["rows"][0]
    ranked = "SELECT name, rank() OVER (ORDER BY id), lag(id) OVER (ORDER BY id) FROM projects"
    assert sql.query(sample.database, ranked, tool_context).data["row_count"] == 12


@pytest.mark.parametrize(
    "statement",
    [
        f"{ENDLESS} SELECT count(*) FROM n",
        f"{ENDLESS} SELECT x FROM n WHERE x < 0",
        f"{ENDLESS} SELECT group_concat(x) FROM n",
        "SELECT count(*) FROM sales a, sales b, sales c, sales d, sales e",
        f"{ENDLESS} SELECT instr({text(90_000)}, {text(45_000)} || 'b') FROM n WHERE x < 0",
    ],
)
def test_what_never_ends_is_stopped(statement: str, sample: SamplePaths, tool_context: ToolContext) -> None:
    refused = refusal(sample.database, statement, tool_context, seconds=0.1)
    assert refused.code == "timeout"
    assert "0.1 s" in refused.message


def test_values_are_bounded_whatever_makes_them(sample: SamplePaths, tool_context: ToolContext) -> None:
    assert "100,000 bytes" in refusal(sample.database, f"SELECT hex({text(99_000)})", tool_context).message
    doubled = "WITH RECURSIVE d(s) AS (SELECT 'ab' UNION ALL SELECT s || s FROM d) SELECT length(s) FROM d"
    assert refusal(sample.database, doubled, tool_context).code == "sql_error"
    refusal(sample.database, f"SELECT {'(' * 500}1{')' * 500}", tool_context)
    refusal(sample.database, f"SELECT 'a' LIKE '{'%a' * 200}'", tool_context)
    refusal(sample.database, " UNION ALL ".join(["SELECT 1"] * 100), tool_context)
    refusal(sample.database, f"SELECT {','.join('1' * 1000)}", tool_context)
    refusal(sample.database, f"SELECT '{'x' * 30_000}'", tool_context)


def test_an_unknown_column_or_table_is_told_with_the_names_that_exist(
    sample: SamplePaths, tool_context: ToolContext
) -> None:
    for statement in ("SELECT amount FROM budgets", "SELECT * FROM costs"):
        refused = refusal(sample.database, statement, tool_context)
        assert refused.code == "sql_error"
        assert "no such" in refused.message
        assert "budgets(project_id, month, amount_usd)" in refused.message
    wrong = refusal(sample.database, "SELEC 1", tool_context)
    assert wrong.message == 'SQLite says: near "SELEC": syntax error.'


@pytest.mark.parametrize("statement", ["SELECT ?", "SELECT :name", "SELECT 1 \0", "SELECT '\ud800'"])
def test_parameters_and_broken_text_are_told_to_the_model(
    statement: str, sample: SamplePaths, tool_context: ToolContext
) -> None:
    assert refusal(sample.database, statement, tool_context).code == "sql_error"


def test_no_rows_are_empty_and_so_are_rows_of_nothing(sample: SamplePaths, tool_context: ToolContext) -> None:
    none = sql.query(sample.database, "SELECT * FROM budgets WHERE month = '1999-01'", tool_context)
    assert none.empty
    assert none.text == "0 rows (project_id | month | amount_usd)."
    assert none.data["columns"] == ["project_id", "month", "amount_usd"]
    nothing = sql.query(sample.database, "SELECT sum(units) FROM sales WHERE region = 'Moon'", tool_context)
    assert nothing.empty
    assert "no data" in nothing.text
    assert not sql.query(sample.database, "SELECT count(*) FROM sales WHERE region = 'Moon'", tool_context).empty


def test_more_than_twenty_rows_go_into_a_file(sample: SamplePaths, tool_context: ToolContext) -> None:
    seen = sql.query(sample.database, "SELECT id, month FROM sales ORDER BY id LIMIT 21", tool_context)
    assert seen.artifacts == ("s1-rows.csv",)
    assert len(seen.data["rows"]) == 20
    assert (seen.data["row_count"], seen.data["truncated"]) == (21, False)
    assert seen.text.startswith("21 rows; 20 are shown here, all 21 are in s1-rows.csv:\nid | month\n1 | 2025-03\n")
    with (tool_context.artifacts / "s1-rows.csv").open(newline="") as file:
        rows = list(csv.reader(file))
    assert (len(rows), rows[0], rows[-1]) == (22, ["id", "month"], ["21", "2025-04"])
    assert sql.query(sample.database, "SELECT id FROM sales LIMIT 20", tool_context).artifacts == ()


def test_rows_beyond_the_limit_are_cut_and_it_is_said(sample: SamplePaths, tool_context: ToolContext) -> None:
    seen = sql.query(sample.database, "SELECT * FROM monthly_costs", tool_context)
    assert (seen.data["row_count"], seen.data["truncated"]) == (200, True)
    assert "more rows were cut" in seen.text
    exactly = sql.query(sample.database, "SELECT * FROM monthly_costs LIMIT 200", tool_context)
    assert exactly.data["truncated"] is False


def test_long_rows_are_cut_by_bytes_too(sample: SamplePaths, tool_context: ToolContext) -> None:
    seen = sql.query(sample.database, f"SELECT {text(99_000)} FROM sales", tool_context)
    assert seen.data["truncated"] is True
    assert seen.data["row_count"] < 30
    assert (tool_context.artifacts / "s1-rows.csv").stat().st_size < 3_000_000


@pytest.mark.parametrize("width", [1, 30, 60])
def test_an_observation_fits_whatever_the_rows_hold(width: int, sample: SamplePaths, tool_context: ToolContext) -> None:
    statement = f"WITH one AS (SELECT {text(5_000)} AS long) SELECT {', '.join(['long'] * width)} FROM sales, one"
    seen = sql.query(sample.database, f"{statement} LIMIT 20", tool_context)
    assert len(seen.text) <= OBSERVATION_CHARACTERS
    assert seen.data["rows"][0][0] == "x" * 200 + "… (5,000 characters)"
    assert bool(seen.artifacts) == (len(seen.text.splitlines()) < 22)


@pytest.mark.parametrize(
    ("expression", "shown"),
    [
        ("1e999", "inf"),
        ("-1e999", "-inf"),
        ("9223372036854775807", "9223372036854775807"),
        ("9007199254740991", 9007199254740991),
        ("x'00ff'", "<2 bytes: 00ff>"),
        ("0.1 + 0.2", 0.3),
        ("131420.10 + 0.0", 131420.1),
        ("1e-9", 1e-9),
        ("123456789.12 + 0", 123456789.12),
        ("CAST(x'ff' AS TEXT)", "\ufffd"),
    ],
)
def test_values_are_safe_for_json(
    expression: str, shown: object, sample: SamplePaths, tool_context: ToolContext
) -> None:
    assert one_value(sample.database, expression, tool_context) == shown


def test_what_a_cell_holds_cannot_break_its_line(sample: SamplePaths, tool_context: ToolContext) -> None:
    changed(
        sample.database, "CREATE TABLE notes (text)", "INSERT INTO notes VALUES ('a' || char(10, 8238, 8232) || 'b')"
    )
    assert sql.query(sample.database, "SELECT * FROM notes", tool_context).text == "1 row:\ntext\na\\n\\u202e\\u2028b"


def test_a_step_of_any_name_writes_into_its_own_folder(sample: SamplePaths, tool_context: ToolContext) -> None:
    context = replace(tool_context, step_id="../../s/1" + "x" * 90)
    (name,) = sql.query(sample.database, "SELECT * FROM sales", context).artifacts
    assert [path.name for path in tool_context.artifacts.iterdir()] == [name]


def test_a_file_that_cannot_be_read_ends_the_attempt(sample: SamplePaths, tool_context: ToolContext) -> None:
    with pytest.raises(StorageError, match=r"absent\.db"):
        sql.query(sample.database.with_name("absent.db"), "SELECT 1", tool_context)
    sample.database.write_bytes(b"no database at all" * 100)
    with pytest.raises(StorageError, match=r"business\.db"):
        sql.query(sample.database, "SELECT * FROM sales", tool_context)


def test_a_writer_that_holds_the_file_is_waited_for_and_then_told(
    sample: SamplePaths, tool_context: ToolContext
) -> None:
    with closing(sqlite3.connect(sample.database, isolation_level=None, check_same_thread=False)) as writer:
        writer.execute("BEGIN EXCLUSIVE")
        with pytest.raises(StorageError, match="locked"):
            sql.query(sample.database, "SELECT count(*) FROM sales", tool_context, seconds=0.05)
        release = threading.Timer(0.05, writer.execute, ["COMMIT"])
        release.start()
        assert sql.query(sample.database, "SELECT count(*) FROM sales", tool_context).data["rows"] == [[270]]
        release.join()


def test_the_file_stays_untouched_by_reading(sample: SamplePaths, tool_context: ToolContext) -> None:
    before = sample.database.read_bytes()
    sql.query(sample.database, "SELECT * FROM sales ORDER BY revenue_usd", tool_context)
    assert sql.sql_tool(sample.database).description
    assert sample.database.read_bytes() == before
    assert sorted(path.name for path in sample.database.parent.iterdir()) == ["business.db", "policies"]
