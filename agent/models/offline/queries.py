"""From a question to SQL. Every figure that an answer may name is worked out here, none by the model."""

from __future__ import annotations

from agent.models.offline.naming import plural
from agent.models.offline.question import Bound, Dimension, Filter, Kind, Question
from agent.models.offline.tables import Column
from agent.models.offline.words import name_words

_RESERVED = """
add all and as by case check column create cross default delete desc distinct drop else end exists from group having in
index insert into is join key left like limit match natural not null of offset on or order outer over primary references
rename right row rows select set table then to transaction trigger union unique update using values view when where
window with
"""
RESERVED = frozenset(_RESERVED.split())
DECIMALS = 6
"""What is left of a sum when the dust of floating point is gone."""
DECIMALS_OF_AVERAGE = 4
ROW_COLUMNS = 4
Wanted = tuple[str, str]
"""An expression and the name that it gets."""


def coverage(question: Question) -> str:
    """What data the question is about: what it is restricted to, first_month, last_month, row_count."""
    month = question.covered_month
    months = ""
    if month:
        key = _month_key(month, "t")
        months = f"MIN({key}) AS first_month, MAX({key}) AS last_month, "
        if question.period and question.period.latest == 1:
            every = f"SELECT MAX({_month_key(month, 'm')}) FROM {question.measure.table.name} AS m"
            months = f"({every}) AS latest_month, {months}"
    about = [(_text(" and ".join(item.values)), _snake(item.dimension.noun)) for item in scope(question)]
    of = f"{_list(about)}, " if about else ""
    return f"SELECT {of}{months}COUNT(*) AS row_count {_from(question)}{_where(question)}"


def scope(question: Question) -> list[Filter]:
    """The filters that the rows of the answer do not show by themselves."""
    return [item for item in question.filters if question.by_month or item.dimension != question.group]


def ranking(question: Question) -> str:
    """One row for each group (or row), the greatest or the least first, as many as are asked for."""
    return _ranked(question) + (f" LIMIT {question.count}" if question.count else "")


def _ranked(question: Question) -> str:
    order = "DESC" if question.highest else "ASC"
    if question.by_row:
        column = _of("t", question.measure.column)
        where = _where(question, f"{column} IS NOT NULL")
        return f"SELECT {_list(_row(question))} {_from(question)}{where} ORDER BY {column} {order}, 1"
    name, value = figure(question), value_of(question)
    having = "" if question.measure.how == "COUNT" else f" HAVING {value} IS NOT NULL"
    return (
        f"SELECT {_group(question)} AS {alias(question)}, {value} AS {name} {_from(question)}"
        f"{_where(question, f'{_group(question)} IS NOT NULL')} GROUP BY {_group_key(question)}{having} "
        f"ORDER BY {name} {order}, {alias(question)}"
    )


def beyond_ranking(question: Question) -> str:
    """The figure over all groups, how many there are, and the figure that comes next after the ranking."""
    name, count = figure(question), question.count or 0
    following = f"(SELECT {name} FROM ({_ranked(question)}) LIMIT 1 OFFSET {count}) AS next_{name}"
    if question.by_row:
        return f"SELECT COUNT(*) AS row_count, {following} {_from(question)}{_where(question)}"
    overall = name if name.startswith(("total_", "number_of_")) else f"overall_{name}"
    groups = f"COUNT(DISTINCT {_group_key(question)}) AS number_of_{_snake(plural(question.noun))}"
    return f"SELECT {value_of(question)} AS {overall}, {groups}, {following} {_from(question)}{_where(question)}"


def groups(question: Question) -> str:
    """One row for each group: months in their order, others by their figure."""
    name, value = figure(question), value_of(question)
    order = alias(question) if question.by_month else f"{name} DESC, {alias(question)}"
    return (
        f"SELECT {_group(question)} AS {alias(question)}, {value} AS {name} {_from(question)}"
        f"{_where(question)} GROUP BY {_group_key(question)} ORDER BY {order}"
    )


def total(question: Question, *, filters: bool = True) -> str:
    """The figure over all rows, with how many rows it is made of."""
    where = _where(question) if filters else _where(question, filters=())
    return f"SELECT {value_of(question)} AS {figure(question)}, COUNT(*) AS row_count {_from(question)}{where}"


def spread(question: Question) -> str:
    """The rows behind a figure: how many, the smallest, the largest; or how many rows there are in all."""
    if question.measure.column is None:
        return (
            f"SELECT COUNT(*) AS number_of_all_{plural(question.measure.table.noun)} FROM {question.measure.table.name}"
        )
    column, noun = _of("t", question.measure.column), question.measure.noun
    return (
        f"SELECT COUNT({column}) AS row_count, MIN({column}) AS smallest_{noun}, MAX({column}) AS largest_{noun} "
        f"{_from(question)}{_where(question)}"
    )


def change(question: Question) -> str:
    """A series in one row: its first and last month, the change between them, and its highest and lowest month."""
    name, when = figure(question), alias(question)
    return (
        f"WITH series AS ({groups(question)}), "
        f"ends AS (SELECT MIN({when}) AS first_{when}, MAX({when}) AS last_{when} FROM series) "
        f"SELECT first_{when}, a.{name} AS first_{name}, last_{when}, b.{name} AS last_{name}, "
        f"ROUND(b.{name} - a.{name}, {DECIMALS}) AS change, "
        f"(SELECT {when} FROM series ORDER BY {name} DESC, {when} LIMIT 1) AS highest_{when}, "
        f"(SELECT MAX({name}) FROM series) AS highest_{name}, "
        f"(SELECT {when} FROM series ORDER BY {name}, {when} LIMIT 1) AS lowest_{when}, "
        f"(SELECT MIN({name}) FROM series) AS lowest_{name} "
        f"FROM ends JOIN series AS a ON a.{when} = first_{when} JOIN series AS b ON b.{when} = last_{when}"
    )


# --- limits


def against_bound(question: Question) -> str:
    """Figures beside their limit, by how much they are over it, and whether they are.

    Only those beyond the limit, unless a ranking or one named thing is checked: then each, with yes, no or 'not set'.
    """
    bound = _bound(question)
    if question.by_row:
        return _rows_against_bound(question, bound)
    name, limit, distance, verdict = figure(question), limit_name(question), distance_name(bound), verdict_name(bound)
    shown = [part for part in (alias(question) if _has_group(question) else "", _by_months(question)) if part]
    columns = [*(f"figures.{part}" for part in dict.fromkeys(shown)), f"figures.{name}", f"limits.amount AS {limit}"]
    sign = "{0} - limits.amount" if bound.operator in (">", ">=") else "limits.amount - {0}"
    columns.append(f"ROUND({sign.format(f'figures.{name}')}, {DECIMALS}) AS {distance}")
    columns.append(
        f"CASE WHEN limits.amount IS NULL THEN 'not set' WHEN figures.{name} {bound.operator} limits.amount THEN 'yes' "
        f"ELSE 'no' END AS {verdict}"
    )
    only = "" if shows_each(question) else f" WHERE figures.{name} {bound.operator} limits.amount"
    order = (
        f"figures.{name} {'DESC' if question.highest else 'ASC'}"
        if question.kind is Kind.RANKING
        else f"{distance} DESC"
    )
    return f"{_with_limits(question)} SELECT {', '.join(columns)} {_joined(question)}{only} ORDER BY {order}"


def count_beyond(question: Question) -> str:
    """How many figures were held against their limit, how many are beyond it, how many have none."""
    bound = _bound(question)
    if question.by_row:
        column, limit = _of("t", question.measure.column), _limit_value(question, "t")
        limit_shown = f"{bound.number} AS threshold, " if bound.number else ""
        return (
            f"SELECT {limit_shown}COUNT(*) AS number_checked, "
            f"COALESCE(SUM({column} {bound.operator} {limit}), 0) AS number_{verdict_name(bound)} "
            f"{_from(question)}{_where(question)}"
        )
    return (
        f"{_with_limits(question)} SELECT {'MAX(limits.amount) AS threshold, ' if bound.number else ''}"
        "COUNT(*) AS number_checked, "
        f"COALESCE(SUM(figures.{figure(question)} {bound.operator} limits.amount), 0) AS number_{verdict_name(bound)}, "
        f"COALESCE(SUM(limits.amount IS NULL), 0) AS number_without_limit {_joined(question)}"
    )


def shows_each(question: Question) -> bool:
    """Whether everything that is checked is shown, and not only what is beyond its limit."""
    if _by_months(question) and question.group is not None:
        return False
    named = any(item.dimension == question.group for item in question.filters)
    return question.kind is Kind.RANKING or named or not _has_group(question)


def distance_name(bound: Bound) -> str:
    """The name of the column that says by how much."""
    return "over_by" if bound.operator in (">", ">=") else "under_by"


def verdict_name(bound: Bound) -> str:
    """The name of the column that says yes or no."""
    return {">": "exceeded", ">=": "reached", "<": "below", "<=": "within"}[bound.operator]


def limit_name(question: Question) -> str:
    """The name of the limit's column in a result."""
    noun = _bound(question).noun
    return noun if noun != figure(question) and noun not in RESERVED else f"{noun}_limit"


def _with_limits(question: Question) -> str:
    """The figures, and the limits beside which they are put, each by what they are for."""
    bound, name = _bound(question), figure(question)
    month = _by_months(question) and question.month
    chosen = [(_group_key_value(question), "key")] if bound.table else []
    if _has_group(question):
        chosen.append((_group(question), alias(question)))
    if month and not question.by_month:
        chosen.append((_month_key(month, "t"), "month"))
    keys = [_group_key(question)] if _has_group(question) else []
    keys += [_month_key(month, "t")] if month and not question.by_month else []
    extra = [f"{_group_key(question)} IN ({_keys_of_ranking(question)})"] if _ranks_months(question) else []
    grouped = f" GROUP BY {', '.join(dict.fromkeys(keys))}" if keys else ""
    figures = (
        f"SELECT {_list([*chosen, (value_of(question), name)])} {_from(question)}{_where(question, *extra)}{grouped}"
    )
    if question.kind is Kind.RANKING and question.count and not _ranks_months(question):
        figures += f" ORDER BY {name} {'DESC' if question.highest else 'ASC'}, {alias(question)} LIMIT {question.count}"
    return f"WITH figures AS ({figures}), limits AS ({_limits(question)})"


def _ranks_months(question: Question) -> bool:
    return question.kind is Kind.RANKING and bool(_by_months(question)) and not question.by_month


def _keys_of_ranking(question: Question) -> str:
    order = "DESC" if question.highest else "ASC"
    return (
        f"SELECT {_group_key(question)} {_from(question)}{_where(question)} GROUP BY {_group_key(question)} "
        f"ORDER BY {value_of(question)} {order}, {_group(question)} LIMIT {question.count}"
    )


def _limits(question: Question) -> str:
    bound = _bound(question)
    if bound.table is None or bound.column is None or bound.key is None:
        return f"SELECT {bound.number} AS amount"
    month = f", {_month_key(bound.month, 'l')} AS month" if bound.month else ""
    where = ""
    if bound.month and question.period:
        where = f" WHERE {_period(question, _month_key(bound.month, 'l'))}"
    source = f"FROM {bound.table.name} AS l{where} GROUP BY 1{', 2' if month else ''}"
    return f"SELECT {_of('l', bound.key)} AS key{month}, SUM({_of('l', bound.column)}) AS amount {source}"


def _joined(question: Question) -> str:
    bound = _bound(question)
    if bound.table is None:
        return "FROM figures CROSS JOIN limits"
    by_month = " AND limits.month = figures.month" if bound.month and _by_months(question) else ""
    return f"FROM figures LEFT JOIN limits ON limits.key = figures.key{by_month}"


def _by_months(question: Question) -> str:
    """`month` if figures are held against limits month by month."""
    bound = question.bound
    if question.by_month:
        return "month"
    one = question.period is not None and question.period.one_month
    return "month" if bound and bound.monthly and not one else ""


def _rows_against_bound(question: Question, bound: Bound) -> str:
    column, limit = _of("t", question.measure.column), _limit_value(question, "t")
    sign = f"{column} - {limit}" if bound.operator in (">", ">=") else f"{limit} - {column}"
    wanted = [*_row(question), (limit, limit_name(question)), (f"ROUND({sign}, {DECIMALS})", distance_name(bound))]
    if question.kind is Kind.RANKING:
        verdict = f"CASE WHEN {column} {bound.operator} {limit} THEN 'yes' ELSE 'no' END"
        order = f"{column} {'DESC' if question.highest else 'ASC'}, 1 LIMIT {question.count}"
        wanted.append((verdict, verdict_name(bound)))
        return f"SELECT {_list(wanted)} {_from(question)}{_where(question)} ORDER BY {order}"
    where = _where(question, f"{column} {bound.operator} {limit}")
    return f"SELECT {_list(wanted)} {_from(question)}{where} ORDER BY {distance_name(bound)} DESC, 1"


def _limit_value(question: Question, of: str) -> str:
    bound = _bound(question)
    return bound.number if bound.number is not None else _of(of, bound.column)


def _bound(question: Question) -> Bound:
    if question.bound is None:
        raise ValueError("the question names no limit")
    return question.bound


# --- pieces


def alias(question: Question) -> str:
    """The name of the group's column in a result."""
    return _safe(_snake(question.noun))


def figure(question: Question) -> str:
    """The name of the figure's column in a result."""
    return _safe(_snake(question.measure.name))


def value_of(question: Question) -> str:
    """The figure as SQL: an aggregate, free of the dust of floating point."""
    measure = question.measure
    if measure.column is None:
        return "COUNT(*)"
    column = _of("t", measure.column)
    if measure.how == "ROW":
        return column
    aggregate = f"{measure.how}({column})"
    exact = "INT" in measure.column.type.upper() and measure.how != "AVG"
    if exact or measure.how in ("MAX", "MIN"):
        return aggregate
    return f"ROUND({aggregate}, {DECIMALS_OF_AVERAGE if measure.how == 'AVG' else DECIMALS})"


def _row(question: Question) -> list[Wanted]:
    """What is shown of a single row: what identifies it, what it belongs to, when it was, its figure."""
    table = question.measure.table
    wanted: list[Wanted] = [(_of("t", table.key), table.noun + "_id")] if table.key else []
    wanted += [
        (_of("t", item), "_".join(name_words(item.name)))
        for item in table.columns
        if item.groupable and not item.primary
    ]
    wanted = wanted[:ROW_COLUMNS]
    wanted += [(_of("t", item), "_".join(name_words(item.name))) for item in table.months[:1]]
    return [*wanted, (value_of(question), figure(question))]


def _has_group(question: Question) -> bool:
    return question.group is not None or question.by_month


def _group(question: Question) -> str:
    if question.by_month and question.month:
        key = _month_key(question.month, "t")
        return f"substr({key}, 1, 4)" if question.by_year else key
    if question.group is None:
        raise ValueError("the question names no group")
    return _of(_place(question.group), question.group.column)


def _group_key(question: Question) -> str:
    """What makes a group: the reference itself where there is one, since two things may have the same name."""
    group = question.group
    if group and group.via and group.names_its_table and not question.by_month:
        return _of("t", group.via)
    return _group(question)


def _group_key_value(question: Question) -> str:
    """What a limit's key is equal to."""
    bound, group = _bound(question), question.group
    if group and group.via and bound.key:
        target = f"{bound.table.name if bound.table else ''}.{bound.key.name}"
        if group.via.target in (bound.key.target, target):
            return _of("t", group.via)
    return _of(_place(group), group.column) if group else "NULL"


def _place(dimension: Dimension) -> str:
    return f"of_{_snake(dimension.via.name).removesuffix('_id')}" if dimension.via else "t"


def _from(question: Question) -> str:
    used = [question.group] if question.group else []
    used += [item.dimension for item in question.filters]
    joins: dict[str, str] = {}
    for dimension in used:
        if dimension.via and dimension.via.target:
            place = _place(dimension)
            target = dimension.via.target.partition(".")[2] or (
                dimension.table.key.name if dimension.table.key else "id"
            )
            joins[place] = f" JOIN {dimension.table.name} AS {place} ON {place}.{target} = {_of('t', dimension.via)}"
    return f"FROM {question.measure.table.name} AS t{''.join(joins.values())}"


def _where(question: Question, *more: str, filters: tuple[Filter, ...] | None = None) -> str:
    parts = [_filter(item) for item in (question.filters if filters is None else filters)]
    if question.period and question.month:
        parts.append(_period(question, _month_key(question.month, "t")))
    parts += more
    return f" WHERE {' AND '.join(parts)}" if parts else ""


def _filter(item: Filter) -> str:
    column = _of(_place(item.dimension), item.dimension.column)
    if any(value not in item.dimension.column.values for value in item.values):
        column = f"{column} COLLATE NOCASE"  # a name as the person wrote it
    values = ", ".join(_text(value) for value in item.values)
    return f"{column} IN ({values})" if len(item.values) > 1 else f"{column} = {values}"


def _period(question: Question, key: str) -> str:
    if question.period is None or question.month is None:
        raise ValueError("the question names no period")
    source = f"FROM {question.measure.table.name} AS m"
    return question.period.condition(key, _month_key(question.month, "m"), source)


def _month_key(month: Column, of: str) -> str:
    return (month.month_key or "{0}").format(_of(of, month))


def _of(place: str, column: Column | None) -> str:
    if column is None:
        raise ValueError("the question names no column")
    return f"{place}.{column.name}"


def _list(wanted: list[Wanted]) -> str:
    return ", ".join(f"{expression} AS {_safe(name)}" for expression, name in wanted)


def _safe(name: str) -> str:
    return f'"{name}"' if name in RESERVED else name


def _snake(words: str) -> str:
    name = "_".join(part for part in "".join(sign if sign.isalnum() else " " for sign in words).lower().split())
    return name if name[:1].isalpha() and name.isascii() else f"n_{name}" if name.isascii() else "name"


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"
