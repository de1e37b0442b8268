"""The few kinds of writes, as DynamoDB is asked for them."""

from typing import Any

from reelworks.adapters import expressions

KEY = {"pk": "UPLOAD#a", "sk": "TASK#t"}
BEFORE = {**KEY, "status": "READY", "token": "t1", "due_at": 5, "updated_at": 1, "watch_shard": "watch#0"}


def test_a_difference_sets_what_changed_and_removes_what_vanished() -> None:
    after = {**KEY, "status": "DONE", "token": "t1", "updated_at": 2}
    update = expressions.change_task_unchanged(BEFORE, after)["Update"]
    assert update["UpdateExpression"] == ("SET #status = :v0, #updated_at = :v1 REMOVE #due_at, #watch_shard")
    assert update["ConditionExpression"] == "#status = :v2 AND #token = :v3 AND #due_at = :v4"
    assert update["ExpressionAttributeValues"] == {
        ":v0": {"S": "DONE"},
        ":v1": {"N": "2"},
        ":v2": {"S": "READY"},
        ":v3": {"S": "t1"},
        ":v4": {"N": "5"},
    }
    assert update["Key"] == {"pk": {"S": "UPLOAD#a"}, "sk": {"S": "TASK#t"}}


def test_what_was_absent_must_still_be_absent() -> None:
    before = {**KEY, "status": "READY", "updated_at": 1}
    condition = expressions.change_task_unchanged(before, before)["Update"]["ConditionExpression"]
    assert condition == "#status = :v1 AND attribute_not_exists(#token) AND attribute_not_exists(#due_at)"


def test_no_difference_is_still_a_guarded_write() -> None:
    assert (
        expressions.change_task_owned(BEFORE, BEFORE)["Update"]["UpdateExpression"] == "SET #updated_at = :v0"
    )


def test_an_owner_asks_for_its_lease_only() -> None:
    update = expressions.change_task_owned({**BEFORE, "status": "RUNNING"}, BEFORE)["Update"]
    assert update["ConditionExpression"] == "#status = :v2 AND #token = :v3"
    assert update["ExpressionAttributeValues"][":v2"] == {"S": "RUNNING"}


def test_an_upload_is_changed_without_its_open_tasks() -> None:
    before: dict[str, Any] = {**KEY, "status": "PROCESSING", "updated_at": 1, "open_tasks": {"a", "b"}}
    after = {**KEY, "status": "COMPLETED", "updated_at": 2}
    for finishing in (False, True):
        update = expressions.change_upload(before, after, finishing=finishing)["Update"]
        assert "open_tasks" not in update["UpdateExpression"]
        assert ("attribute_not_exists(#open_tasks)" in update["ConditionExpression"]) is finishing


def test_a_plan_opens_its_tasks_as_a_set() -> None:
    before = {**KEY, "status": "PENDING_UPLOAD", "updated_at": 1}
    after = {**before, "status": "PROCESSING", "open_tasks": {"a"}}
    update = expressions.open_upload(before, after)["Update"]
    assert {"SS": ["a"]} in update["ExpressionAttributeValues"].values()


def test_closing_takes_one_name_out_whatever_else_is_in() -> None:
    task = {"name": "a", "updated_at": 7, "generation": 2}
    update = expressions.close_in_upload(KEY, task)["Update"]
    assert update["ConditionExpression"] == "#generation = :v2"
    assert update["UpdateExpression"] == "SET #updated_at = :v0 DELETE #open_tasks :v1"
    assert update["ExpressionAttributeValues"][":v1"] == {"SS": ["a"]}


def test_a_new_row_names_no_placeholder() -> None:
    assert expressions.put_new(KEY)["Put"].keys() == {"Item", "ConditionExpression"}


def test_a_promise_that_expired_is_no_obstacle() -> None:
    put = expressions.put_expirable(KEY, 9)["Put"]
    assert put["ConditionExpression"] == "attribute_not_exists(pk) OR #expires_at <= :v0"
    assert put["ExpressionAttributeValues"] == {":v0": {"N": "9"}}
