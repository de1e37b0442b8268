"""Writes to the table: transactions that meet others, and what a refusal looks like on the wire."""

from collections.abc import Iterator

import pytest
from botocore.stub import ANY, Stubber

from reelworks.adapters.clients import Clients
from reelworks.adapters.expressions import Operation, put_new
from reelworks.adapters.table import MAX_TRIES, Refused, Table
from reelworks.errors import Unreachable
from reelworks.testing import FakeClock

ONE: list[Operation] = [put_new({"pk": "a", "sk": "b"})]
TWO: list[Operation] = [put_new({"pk": "a", "sk": "b"}), put_new({"pk": "a", "sk": "c"})]


@pytest.fixture
def stub(clients: Clients) -> Iterator[Stubber]:
    with Stubber(clients.dynamodb) as stubber:
        yield stubber
        stubber.assert_no_pending_responses()


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def table(clients: Clients, clock: FakeClock) -> Table:
    return Table(clients.dynamodb, "reelworks", clock)


def cancelled(stub: Stubber, *codes: str) -> None:
    stub.add_client_error(
        "transact_write_items",
        "TransactionCanceledException",
        modeled_fields={"CancellationReasons": [{"Code": code} for code in codes]},
    )


def test_one_operation_is_a_plain_write(table: Table, stub: Stubber) -> None:
    expected = {"TableName": "reelworks", "Item": ANY, "ConditionExpression": "attribute_not_exists(pk)"}
    stub.add_response("put_item", {}, expected)
    table.write(ONE)


def test_the_same_transaction_carries_the_same_token(table: Table, stub: Stubber) -> None:
    tokens: list[str] = []

    class Seen:
        def __eq__(self, token: object) -> bool:
            tokens.append(str(token))
            return True

        __hash__ = object.__hash__

    for operations in (TWO, TWO, list(reversed(TWO))):
        stub.add_response("transact_write_items", {}, {"TransactItems": ANY, "ClientRequestToken": Seen()})
        table.write(operations)
    first, second, other = (token for token in tokens if len(token) == 36)
    assert first == second != other


@pytest.mark.parametrize(
    "codes",
    [
        ("ConditionalCheckFailed", "None"),
        ("None", "ConditionalCheckFailed"),
        ("ConditionalCheckFailed", "TransactionConflict"),
    ],
)
def test_a_failed_condition_is_refused(table: Table, stub: Stubber, codes: tuple[str, str]) -> None:
    cancelled(stub, *codes)
    with pytest.raises(Refused):
        table.write(TWO)


def test_so_is_one_of_a_plain_write(table: Table, stub: Stubber) -> None:
    stub.add_client_error("put_item", "ConditionalCheckFailedException")
    with pytest.raises(Refused):
        table.write(ONE)


def test_a_token_that_was_used_for_another_request_means_read_the_row(table: Table, stub: Stubber) -> None:
    stub.add_client_error("transact_write_items", "IdempotentParameterMismatchException")
    with pytest.raises(Refused):
        table.write(TWO)


def test_a_transaction_that_met_another_is_tried_again_after_a_pause(
    table: Table, stub: Stubber, clock: FakeClock
) -> None:
    cancelled(stub, "None", "TransactionConflict")
    stub.add_client_error("transact_write_items", "TransactionInProgressException")
    stub.add_response("transact_write_items", {})
    table.write(TWO)
    assert 0 < clock.monotonic() < 1


def test_a_plain_write_that_met_a_transaction_too(table: Table, stub: Stubber) -> None:
    stub.add_client_error("put_item", "TransactionConflictException")
    stub.add_response("put_item", {})
    table.write(ONE)


def test_a_row_that_is_never_free_is_unreachable_in_the_end(
    table: Table, stub: Stubber, clock: FakeClock
) -> None:
    for _ in range(MAX_TRIES):
        cancelled(stub, "TransactionConflict")
    with pytest.raises(Unreachable) as caught:
        table.write(TWO)
    assert caught.value.code == "transaction_conflict"
    assert clock.monotonic() < 10


def test_a_transaction_that_was_throttled_is_unreachable(table: Table, stub: Stubber) -> None:
    cancelled(stub, "ThrottlingError", "None")
    with pytest.raises(Unreachable):
        table.write(TWO)


def test_a_partition_is_read_to_its_last_page(table: Table, stub: Stubber) -> None:
    cursor = {"pk": {"S": "a"}, "sk": {"S": "b"}}
    request = {
        "TableName": "reelworks",
        "KeyConditionExpression": "pk = :pk",
        "ExpressionAttributeValues": {":pk": {"S": "a"}},
        "ConsistentRead": True,
    }
    stub.add_response("query", {"Items": [cursor], "LastEvaluatedKey": cursor}, request)
    stub.add_response(
        "query", {"Items": [{**cursor, "sk": {"S": "c"}}]}, {**request, "ExclusiveStartKey": cursor}
    )
    assert [row["sk"] for row in table.partition("a")] == ["b", "c"]
