"""From a question to SQL. Every figure that an answer may name is worked out here, never by the model."""

from __future__ import annotations

import re

from agent.models.offline.question import Dimension, Filter, Kind, NotUnderstoodError, Question
from agent.models.offline.tables import Column, Table
from agent.models.offline.vocabulary import UNCOUNTABLE

RESERVED = frozenset(
    [
        "group",
        "order",
        "limit",
        "index",
        "case",
        "key",
        "check",
        "column",
        "table",
        "set",
        "to",
        "from",
        "values",
        "references",
        "transaction",
        "plan",
        "row",
        "default",
        "view",
    ]
)


def coverage(question: Question) -> str:
    """Which rows the question is about: how many, and of which months."""
    months = ""
    if question.month:
        key = _key(question.month, "t")
        latest = question.period is not None and question.period.latest
        months = f", MAX({key}) AS latest_month" if latest else f", MIN({key}) AS first_month, MAX({key}) AS last_month"
    return f"SELECT COUNT(*) AS row_count{months} {_from(question)}{_where(question)}"


def ranking(question: Question, limit: int | None = None) -> str:
    """One row per group, the greatest (or least) first."""
    direction = "DESC" if question.descending else "ASC"
    cut = f" LIMIT {limit}" if limit else ""
    return (
        f"SELECT {_group(question)} AS {alias(question)}, {value(question)} AS {value_name(question)} "
        f"{_from(question)}{_where(question)} GROUP BY {_group_key(question)} "
        f"HAVING {value(question)} IS NOT NULL ORDER BY {value_name(question)} {direction}, {alias(question)}{cut}"
    )


def total(question: Question) -> str:
    """The figure over all rows, with how many rows it is made of."""
    return (
        f"SELECT {value(question)} AS {total_name(question)}, COUNT(*) AS row_count {_from(question)}{_where(question)}"
    )


def spread(question: Question) -> str:
    """The extremes of the rows behind a total."""
    if question.measure is None:
        return f"SELECT COUNT(*) AS row_count {_from(question)}{_where(question)}"
    column, unit = _column(question.measure, "t"), _suffix(question)
    return (
        f"SELECT COUNT({column}) AS row_count, MIN({column}) AS smallest{unit}, MAX({column}) AS largest{unit} "
        f"{_from(question)}{_where(question)}"
    )


def series(question: Question) -> str:
    """The figure of each month, oldest first."""
    key = _key(_month(question), "t")
    return (
        f"SELECT {key} AS month, {value(question)} AS {value_name(question)} {_from(question)}{_where(question)} "
        f"GROUP BY 1 ORDER BY 1"
    )


def change(question: Question) -> str:
    """From the first to the last month of a series: both figures, the difference and the percentage."""
    name = value_name(question)
    return (
        f"WITH series AS ({series(question)}), "
        "ends AS (SELECT MIN(month) AS first_month, MAX(month) AS last_month FROM series) "
        f"SELECT first_month, a.{name} AS first_{name}, last_month, b.{name} AS last_{name}, "
        f"ROUND(b.{name} - a.{name}, 2) AS change, "
        f"CASE WHEN a.{name} != 0 THEN ROUND(100.0 * (b.{name} - a.{name}) / a.{name}, 1) END AS change_percent "
        "FROM ends JOIN series a ON a.month = first_month JOIN series b ON b.month = last_month"
    )


def difference(question: Question) -> str:
    """The greatest and the least group, and how far they are apart."""
    name, group = value_name(question), alias(question)
    return (
        f"WITH ranked AS ({ranking(question)}), "
        f"ends AS (SELECT MAX({name}) AS most, MIN({name}) AS least FROM ranked) "
        f"SELECT (SELECT {group} FROM ranked WHERE {name} = most LIMIT 1) AS highest, most AS highest_{name}, "
        f"(SELECT {group} FROM ranked WHERE {name} = least LIMIT 1) AS lowest, least AS lowest_{name}, "
        "ROUND(most - least, 2) AS difference FROM ends WHERE (SELECT COUNT(*) FROM ranked) > 1"
    )


def over_threshold(question: Question) -> str:
    """The groups (or, where rows are counted, how many rows) beyond a limit that the task gives as a number."""
    threshold = question.threshold
    if threshold is None:
        raise NotUnderstoodError("no limit is given")
    if question.dimension is None:
        raise NotUnderstoodError("I do not see which things are to be checked against the limit")
    return (
        f"SELECT {_group(question)} AS {alias(question)}, {value(question)} AS {value_name(question)}, "
        f'{threshold.number} AS "limit" {_from(question)}{_where(question)} GROUP BY {_group_key(question)} '
        f"HAVING {value(question)} {threshold.operator} {threshold.number} ORDER BY {value_name(question)} DESC"
    )


def against_limit(question: Question) -> str:
    """Each group's figure beside its limit from another table, and by how much it is over."""
    if question.limit is None or question.dimension is None:
        raise NotUnderstoodError("I do not see what is to be compared with which limit")
    top = question.count if question.kind is Kind.TOP else None
    name, group = value_name(question), alias(question)
    direction = "DESC" if question.descending else "ASC"
    order = f"{name} {direction}" if top else "over_by IS NULL, over_by DESC"
    return (
        f"WITH figures AS (SELECT {_group_key(question)} AS key, {_group(question)} AS {group}, "
        f"{value(question)} AS {name} {_from(question)}{_where(question)} GROUP BY {_group_key(question)} "
        f"ORDER BY {name} {direction}, {group}{f' LIMIT {top}' if top else ''}), "
        f"limits AS ({_limits(question)}) "
        f'SELECT {group}, {name}, limits.amount AS "{limit_name(question)}", '
        f"ROUND({name} - limits.amount, 2) AS over_by, "
        f"CASE WHEN limits.amount IS NULL THEN 'not set' WHEN {name} > limits.amount THEN 'yes' "
        f"ELSE 'no' END AS exceeded "
        f"FROM figures LEFT JOIN limits ON limits.key = figures.key ORDER BY {order}, {group}"
    )


def _limits(question: Question) -> str:
    """The limit of each group, over the same months."""
    limit_table, column = question.limit or (_table(question), _table(question).columns[0])
    key = _limit_key(question, limit_table)
    where = ""
    if question.period:
        if limit_table.month is None:
            raise NotUnderstoodError(f"{limit_table.name} does not say for which month a limit holds")
        where = f" WHERE {_period(question, limit_table.month, 'l')}"
    elif limit_table.month and question.month is None:
        raise NotUnderstoodError(f"{limit_table.name} has a limit for each month, and the figures have no months")
    return f"SELECT l.{key.name} AS key, SUM(l.{column.name}) AS amount FROM {limit_table.name} AS l{where} GROUP BY 1"


def _limit_key(question: Question, limit_table: Table) -> Column:
    """The column by which the limit's table names the group."""
    dimension = question.dimension
    for column in limit_table.columns:
        if dimension and dimension.via and column.target == dimension.via.target and column.target:
            return column
        if dimension and not dimension.via and column.name == dimension.column.name:
            return column
        if dimension and dimension.via and column.name == dimension.via.name:
            return column
    raise NotUnderstoodError(f"{limit_table.name} has no column in common with the figures")


# --- pieces


def alias(question: Question) -> str:
    """The name of the group's column in the result."""
    noun = question.dimension.noun if question.dimension else "group"
    name = "_".join(noun.split())
    return f'"{name}"' if name in RESERVED else name


def value(question: Question) -> str:
    """The aggregate."""
    if question.measure is None:
        return "COUNT(*)"
    return f"ROUND({question.aggregate}({_column(question.measure, 't')}), 2)"


def measure_noun(question: Question) -> str:
    """What is measured, in a word or two: `cost` for `monthly_costs.amount_usd`."""
    if question.measure is None:
        return "number of " + plural(" ".join(_table(question).words))
    if question.measure.words in (("amount",), ("value",), ("total",), ("figure",)):
        return _table(question).words[-1] + (" amount" if not set(_table(question).words) & UNCOUNTABLE else "")
    return question.measure.said


def plural(noun: str) -> str:
    """More than one of it."""
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return noun[:-1] + "ies"
    return noun + ("es" if noun.endswith(("s", "x", "ch", "sh")) else "s")


def limit_noun(question: Question) -> str:
    """What the limit is called: `budget` for a table of budgets."""
    if question.limit is None:
        return "limit"
    table, column = question.limit
    return column.said if set(column.words) - {"amount", "value"} else table.words[-1]


def limit_name(question: Question) -> str:
    """The name of the limit's column in the result."""
    return "_".join(limit_noun(question).split())


def value_name(question: Question) -> str:
    """The name of the figure's column in the result."""
    prefix = {"AVG": "average_", "COUNT": "", "SUM": "", "MAX": "highest_", "MIN": "lowest_"}[question.aggregate]
    if question.measure is None:
        return "number"
    return prefix + "_".join(measure_noun(question).split()) + _suffix(question)


def _suffix(question: Question) -> str:
    """The unit as the end of a column's name in the result."""
    return f"_{question.measure.unit}" if question.measure and question.measure.unit else ""


def total_name(question: Question) -> str:
    """The name of a total's column."""
    return value_name(question) if question.aggregate != "SUM" else f"total_{value_name(question)}"


def _table(question: Question) -> Table:
    if question.table is None:
        raise NotUnderstoodError("no table fits")
    return question.table


def _month(question: Question) -> Column:
    if question.month is None:
        raise NotUnderstoodError(f"{_table(question).name} does not say when something was")
    return question.month


def _column(column: Column, of: str) -> str:
    return f"{of}.{column.name}"


def _key(month: Column, of: str) -> str:
    return (month.month_key or "{0}").format(_column(month, of))


def _of(dimension: Dimension) -> str:
    return "d_" + re.sub(r"\W", "_", dimension.via.name.strip('"')) if dimension.via else "t"


def _group(question: Question) -> str:
    if question.dimension is None:
        raise NotUnderstoodError("I do not see what to group by")
    return _column(question.dimension.column, _of(question.dimension))


def _group_key(question: Question) -> str:
    """What makes a group: the reference itself where there is one, since two things may have the same name."""
    dimension = question.dimension
    if dimension and dimension.is_label:
        key = dimension.via or dimension.table.key
        return _column(key, "t") if key else _group(question)
    return _group(question)


def _from(question: Question) -> str:
    used = [question.dimension] if question.dimension else []
    used += [item.dimension for item in question.filters]
    joins = {}
    for dimension in used:
        if dimension.via and dimension.via.target:
            name = _of(dimension)
            column = dimension.via.target.partition(".")[2]
            joins[name] = f" JOIN {dimension.table.name} AS {name} ON {name}.{column} = {_column(dimension.via, 't')}"
    return f"FROM {_table(question).name} AS t{''.join(joins.values())}"


def _where(question: Question, *, period: bool = True) -> str:
    parts = [_filter(item) for item in question.filters]
    if period and question.period:
        parts.append(_period(question, question.month, "t"))
    return f" WHERE {' AND '.join(parts)}" if parts else ""


def _filter(item: Filter) -> str:
    column = _column(item.dimension.column, _of(item.dimension))
    values = ", ".join(_text(value) for value in item.values)
    return f"{column} IN ({values})" if len(item.values) > 1 else f"{column} = {values}"


def _period(question: Question, month: Column | None, of: str) -> str:
    period = question.period
    if period is None or month is None:
        raise NotUnderstoodError("it does not say when something was")
    key = _key(month, of)
    if period.latest:
        return f"{key} = (SELECT MAX({_key(_month(question), 't')}) {_from(question)}{_where(question, period=False)})"
    if period.listed:
        return f"{key} IN ({', '.join(_text(month) for month in period.listed)})"
    if period.first == period.last:
        return f"{key} = {_text(str(period.first))}"
    if period.last is None:
        return f"{key} >= {_text(str(period.first))}"
    return f"{key} BETWEEN {_text(str(period.first))} AND {_text(period.last)}"


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"
