"""Scores with many ties: DuckDB groups them, which counts all distinct scores exactly in one pass."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from costcurves.data.passes import CurveCounts
from costcurves.data.readers.columns import Missing, Roles, arrow, is_missing, label_of, missing_values, numbers
from costcurves.data.readers.duckdb import Relation, quoted

MOST_COLUMNS = 16
MOST_DISTINCT = 1 << 16  # the most distinct scores of a column


def can_group(roles: Roles, label_types: Sequence[Any]) -> bool:
    """Whether DuckDB can count these columns by grouping, with labels that mean the same in Arrow."""
    types = arrow().types
    plain = (types.is_boolean, types.is_integer, types.is_floating, types.is_string, types.is_large_string)
    return (
        roles.weight is None
        and roles.group is None
        and len(roles.scores) <= MOST_COLUMNS
        and all(any(is_plain(kind) for is_plain in plain) for kind in label_types)
    )


def group_scores(relations: Sequence[Relation], roles: Roles, counts: CurveCounts) -> Missing | None:
    """Count all rows and return their missing values, or None if grouping fails or there are too many groups."""
    found = Missing()
    for relation in relations:
        table = relation.query(_sql(roles))
        if table is None or not _add(table, roles, counts, found):
            return None
    return found


def _sql(roles: Roles) -> str:
    """Write a query that groups labels with each score column in turn, with rows without nulls kept separate."""
    scores = [f"s{i}" for i in range(len(roles.scores))]
    columns = ", ".join(f"{quoted(name)} as {s}" for name, s in zip(roles.scores, scores, strict=True))
    whole = " and ".join(f"{quoted(name)} is not null" for name in roles.names)
    sets = ", ".join(f"(label, whole, {s})" for s in scores)
    kinds = ", ".join(f"grouping({s}) = 0 as of_{s}" for s in scores)
    return (
        f"with rows as (select {quoted(roles.label)} as label, {columns}, {whole} as whole from data) "
        f"select label, whole, {', '.join(scores)}, {kinds}, count(*) as times "
        f"from rows group by grouping sets ({sets})"
    )


def _add(table: Any, roles: Roles, counts: CurveCounts, found: Missing) -> bool:
    """Add the groups of a table to the counts. Return False if this is not possible."""
    compute = arrow().compute
    several = len(roles.scores) > 1
    for i, name in enumerate(roles.scores):
        groups = table.filter(table.column(f"of_s{i}"))
        if groups.num_rows > 4 * MOST_DISTINCT:  # two labels, for complete rows and for others
            return False
        label, scores = groups.column("label"), groups.column(f"s{i}")
        # DuckDB's isnan may be false for a NaN in Parquet, so the query does not use it. Groups do not show which rows
        # have a NaN in another column.
        if several and any(missing_values(values) > values.null_count for values in (label, scores)):
            return False
        no_label, no_score = (is_missing(values) for values in (label, scores))
        if i == 0:
            found.rows += _total(groups)
            found.count(roles.label, _total(groups.filter(no_label)))
        found.count(name, _total(groups.filter(no_score)))
        whole = groups.filter(compute.and_not(groups.column("whole"), compute.or_(no_label, no_score)))
        if i == 0:
            found.dropped += _total(groups) - _total(whole)
        if whole.num_rows:
            times = numbers(whole.column("times"))
            counts.add_distinct(name, label_of(whole.column("label")), numbers(whole.column(f"s{i}")), times)
    return True


def _total(groups: Any) -> int:
    return int(numbers(groups.column("times")).sum()) if groups.num_rows else 0
