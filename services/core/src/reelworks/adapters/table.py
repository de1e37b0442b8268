"""The DynamoDB client as the store uses it: rows in and out, and writes that either happen or are Refused.

Two transactions that meet on one row make DynamoDB turn one of them away with a conflict: not an answer about our
conditions, so it is tried again, a bounded number of times.
"""

import hashlib
import json
import random
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError
from msgspec import Struct

from reelworks.adapters.expressions import Operation
from reelworks.adapters.faults import code_of, translated
from reelworks.adapters.rows import Row, marshal, unmarshal
from reelworks.errors import Unreachable
from reelworks.ports import Clock

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

MAX_TRIES = 12
FIRST_PAUSE_S = 0.02
LONGEST_PAUSE_S = 0.5
"""Twelve tries take at most some 4 s: more tasks of one upload than one table row can take do not end together."""

BUSY = frozenset({"TransactionConflictException", "TransactionInProgressException"})
REFUSED = frozenset({"ConditionalCheckFailedException", "IdempotentParameterMismatchException"})
"""A mismatch means that a transaction with our token already happened: reading the row tells."""


class Refused(Exception):
    """A condition did not hold. Never leaves the adapter: the store reads the row and decides what that means."""


class _Busy(Exception):
    """Another transaction has the row."""


class Page(Struct, frozen=True, kw_only=True):
    """One page of a query. `cursor`: DynamoDB's LastEvaluatedKey."""

    rows: list[Row]
    cursor: Mapping[str, Any] | None = None


class Table:
    """One table."""

    def __init__(self, client: "DynamoDBClient", name: str, clock: Clock) -> None:
        self._client = client
        self._name = name
        self._clock = clock
        self._resource = f'the table "{name}"'

    def get(self, row: Row) -> Row | None:
        """The stored row with the keys of this one, strongly consistent."""
        key = marshal({"pk": row["pk"], "sk": row["sk"]})
        with translated(self._resource):
            answer = self._client.get_item(TableName=self._name, Key=key, ConsistentRead=True)
        return unmarshal(answer["Item"]) if "Item" in answer else None

    def query(self, request: Mapping[str, Any]) -> Page:
        """One page."""
        with translated(self._resource):
            answer = self._client.query(TableName=self._name, **request)
        return Page(rows=[unmarshal(item) for item in answer["Items"]], cursor=answer.get("LastEvaluatedKey"))

    def partition(self, pk: str) -> list[Row]:
        """All rows of one partition, strongly consistent."""
        request = {
            "KeyConditionExpression": "pk = :pk",
            "ExpressionAttributeValues": marshal({":pk": pk}),
            "ConsistentRead": True,
        }
        page = self.query(request)
        rows = page.rows
        while page.cursor is not None:
            page = self.query({**request, "ExclusiveStartKey": page.cursor})
            rows += page.rows
        return rows

    def write(self, operations: Sequence[Operation]) -> None:
        """One operation as itself, several as one transaction. Raises Refused, Unreachable."""
        named: list[Operation] = [
            {kind: {"TableName": self._name, **body} for kind, body in operation.items()}
            for operation in operations
        ]
        for attempt in range(MAX_TRIES):
            try:
                return self._write_once(named)
            except _Busy:
                pause = min(LONGEST_PAUSE_S, FIRST_PAUSE_S * 2**attempt)
                self._clock.sleep(pause * random.random())
        raise Unreachable(
            f"Others kept writing to the same rows of {self._resource}.", code="transaction_conflict"
        )

    def _write_once(self, operations: Sequence[Operation]) -> None:
        with translated(self._resource):
            try:
                self._send(operations)
            except ClientError as error:
                code = code_of(error)
                if code in REFUSED or "ConditionalCheckFailed" in _reasons(error):
                    raise Refused from error
                if code in BUSY or _reasons(error) == {"TransactionConflict"}:
                    raise _Busy from error
                raise

    def _send(self, operations: Sequence[Operation]) -> None:
        if len(operations) > 1:
            transaction: Any = list(operations)
            self._client.transact_write_items(
                TransactItems=transaction, ClientRequestToken=_request_token(operations)
            )
            return
        for kind, body in operations[0].items():
            send: Any = {
                "Put": self._client.put_item,
                "Update": self._client.update_item,
                "Delete": self._client.delete_item,
            }[kind]
            send(**body)


def _reasons(error: ClientError) -> set[str]:
    """Why a transaction was cancelled, without the items that had no objection."""
    reasons: Any = error.response.get("CancellationReasons", [])
    return {reason["Code"] for reason in reasons if reason.get("Code") not in (None, "None")}


def _request_token(operations: Sequence[Operation]) -> str:
    """The same for the same content, however often it is sent: DynamoDB then does it once (within ten minutes).

    The content names the lease's token and the instant of the change, so no two different changes share a token.
    """
    content = json.dumps(operations, sort_keys=True, default=sorted)
    return hashlib.sha256(content.encode()).hexdigest()[:36]
