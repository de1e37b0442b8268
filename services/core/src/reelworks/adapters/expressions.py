"""DynamoDB expressions for the few kinds of writes that there are: what changes, and what must still be true.

An operation is what `TransactWriteItems` takes: `{"Put": …}` or `{"Update": …}`, without the table's name.
"""

from collections.abc import Iterable
from typing import Any

from reelworks.adapters.rows import Item, Row, marshal
from reelworks.domain.task import TaskStatus

Operation = dict[str, dict[str, Any]]

KEYS = frozenset({"pk", "sk"})
TASK_GUARD = ("status", "token", "due_at")
UPLOAD_GUARD = ("status", "due_at", "notify_due", "generation")
POSTER_GUARD = ("poster_of", "poster_choice")
RANKING_GUARD = ("picks", "schema")
OPEN_TASKS = "open_tasks"


class Expression:
    """Collects clauses and the placeholders that they use."""

    def __init__(self) -> None:
        self.names: dict[str, str] = {}
        self.values: Row = {}

    def name(self, attribute: str) -> str:
        """A placeholder for an attribute: many of their names are reserved words."""
        self.names[f"#{attribute}"] = attribute
        return f"#{attribute}"

    def value(self, value: object) -> str:
        """A placeholder for a value."""
        placeholder = f":v{len(self.values)}"
        self.values[placeholder] = value
        return placeholder

    def same(self, row: Row, attributes: Iterable[str]) -> list[str]:
        """Each attribute is stored as in the row, absence included."""
        return [self._is(attribute, row.get(attribute)) for attribute in attributes]

    def _is(self, attribute: str, value: object) -> str:
        name = self.name(attribute)
        return f"attribute_not_exists({name})" if value is None else f"{name} = {self.value(value)}"

    def difference(self, before: Row, after: Row, ignore: frozenset[str] = frozenset()) -> str:
        """`SET … REMOVE …`; always sets `updated_at`, so that it is never empty."""
        skip = KEYS | ignore
        changed = [n for n, value in after.items() if n not in skip and before.get(n) != value]
        vanished = [n for n in before if n not in skip and n not in after]
        assignments = [
            f"{self.name(n)} = {self.value(after[n])}" for n in dict.fromkeys([*changed, "updated_at"])
        ]
        removals = f" REMOVE {', '.join(self.name(n) for n in vanished)}" if vanished else ""
        return f"SET {', '.join(assignments)}{removals}"

    def placeholders(self) -> Item:
        """The part of a request that names them; DynamoDB refuses empty and unused ones."""
        names = {"ExpressionAttributeNames": self.names} if self.names else {}
        values = {"ExpressionAttributeValues": marshal(self.values)} if self.values else {}
        return names | values


def put_new(row: Row) -> Operation:
    """A row that must not be there yet."""
    return {"Put": {"Item": marshal(row), "ConditionExpression": "attribute_not_exists(pk)"}}


def put_expirable(row: Row, now: int) -> Operation:
    """A row that must not be there yet, or only as one that has expired: TTL deletes hours later."""
    expression = Expression()
    over = f"{expression.name('expires_at')} <= {expression.value(now)}"
    condition = f"attribute_not_exists(pk) OR {over}"
    return {"Put": {"Item": marshal(row), "ConditionExpression": condition, **expression.placeholders()}}


def change_task_unchanged(before: Row, after: Row) -> Operation:
    """The difference, if nobody moved the task since it was read."""
    expression = Expression()
    update = expression.difference(before, after)
    return _update(before, update, expression.same(before, TASK_GUARD), expression)


def change_task_owned(before: Row, after: Row) -> Operation:
    """The difference, if the lease is still ours.

    A renewal that timed out may still arrive, after a later one: it must not move the end of the lease back.
    """
    expression = Expression()
    update = expression.difference(before, after)
    owned = {"status": TaskStatus.RUNNING.value, "token": before.get("token")}
    conditions = expression.same(owned, ("status", "token"))
    if after["status"] == TaskStatus.RUNNING.value:
        conditions.append(f"{expression.name('lease_until')} <= {expression.value(after['lease_until'])}")
    return _update(before, update, conditions, expression)


def change_upload(before: Row, after: Row, *, finishing: bool = False) -> Operation:
    """The difference but for the open tasks, if nobody moved the upload; `finishing`: and no task is open."""
    expression = Expression()
    update = expression.difference(before, after, ignore=frozenset({OPEN_TASKS}))
    conditions = expression.same(before, UPLOAD_GUARD)
    if finishing:
        conditions.append(f"attribute_not_exists({expression.name(OPEN_TASKS)})")
    return _update(before, update, conditions, expression)


def open_upload(before: Row, after: Row) -> Operation:
    """The difference and the open tasks."""
    expression = Expression()
    update = expression.difference(before, after)
    return _update(before, update, expression.same(before, UPLOAD_GUARD), expression)


def change_poster(before: Row, after: Row) -> Operation:
    """The difference, if nobody chose meanwhile. The upload may have moved otherwise."""
    expression = Expression()
    update = expression.difference(
        before, after, ignore=frozenset(after.keys() - {*POSTER_GUARD, "updated_at"})
    )
    conditions = ["attribute_exists(pk)", *expression.same(before, POSTER_GUARD)]
    return _update(before, update, conditions, expression)


def change_ranking(before: Row, after: Row) -> Operation:
    """The difference, if nobody taught it meanwhile: each lesson is one more of its picks."""
    expression = Expression()
    update = expression.difference(before, after)
    return _update(before, update, expression.same(before, RANKING_GUARD), expression)


def delete(row: Row) -> Operation:
    """A row that nobody needs any more."""
    return {"Delete": {"Key": marshal({"pk": row["pk"], "sk": row["sk"]})}}


def unwatch(key: Row, due_at: int) -> Operation:
    """Take a row out of the watch index, if it is still due then."""
    expression = Expression()
    update = f"REMOVE {expression.name('watch_shard')}, {expression.name('due_at')}"
    return _update(key, update, expression.same({"due_at": due_at}, ("due_at",)), expression)


def close_in_upload(key: Row, task: Row) -> Operation:
    """Take one name out of the open tasks, if they are of its generation; the set vanishes with its last name."""
    expression = Expression()
    update = (
        f"SET {expression.name('updated_at')} = {expression.value(task['updated_at'])} "
        f"DELETE {expression.name(OPEN_TASKS)} {expression.value({task['name']})}"
    )
    return _update(key, update, expression.same(task, ("generation",)), expression)


def _update(row: Row, update: str, conditions: list[str], expression: Expression) -> Operation:
    return {
        "Update": {
            "Key": marshal({"pk": row["pk"], "sk": row["sk"]}),
            "UpdateExpression": update,
            "ConditionExpression": " AND ".join(conditions),
            **expression.placeholders(),
        }
    }
