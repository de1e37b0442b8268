"""What a message body asks for."""

import contextlib
import json
from typing import Any
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reelworks import messages
from reelworks.domain.keys import RawKey, parse_raw_key, safe_name
from reelworks.errors import Malformed
from reelworks.messages import Batch, Hint

UPLOAD_ID = "0123456789abcdef0123456789abcdef"
KEY = f"uploads/ada/{UPLOAD_ID}/a b+c ü.mp4"


def s3_event(*keys: str) -> str:
    return json.dumps({"Records": [record(key) for key in keys]})


def record(key: str) -> dict[str, Any]:
    entity = {"bucket": {"name": "raw"}, "object": {"key": key, "size": 3}}
    return {"eventSource": "aws:s3", "eventName": "ObjectCreated:Put", "s3": entity}


def test_own_message_survives_the_wire() -> None:
    body = messages.encode(UPLOAD_ID, "transcribe")
    assert messages.decode(body) == Batch(hints=(Hint(upload_id=UPLOAD_ID, task="transcribe"),))


@pytest.mark.parametrize("encode", [quote_plus, quote, lambda key: quote(key, safe="")])
def test_object_key_is_decoded_however_the_sender_encodes_it(encode: Any) -> None:
    batch = messages.decode(s3_event(encode(KEY)))
    assert batch.hints == (Hint(upload_id=UPLOAD_ID, task="ingest", object_key=KEY),)


def test_test_event_asks_for_nothing() -> None:
    assert messages.decode('{"Service": "Amazon S3", "Event": "s3:TestEvent"}') == Batch()


def test_bad_record_does_not_take_the_good_ones_along() -> None:
    batch = messages.decode(s3_event(quote_plus(KEY), "elsewhere/x.mp4", quote_plus(KEY)))
    assert (len(batch.hints), len(batch.rejects)) == (2, 1)


@pytest.mark.parametrize(
    "body",
    [
        "",
        "no json",
        "[]",
        "{}",
        '{"Records": []}',
        '{"Records": "x"}',
        '{"Records": [{"eventSource": "aws:s3"}]}',
        f'{{"version": 2, "uploadId": "{UPLOAD_ID}", "task": "t"}}',
        '{"version": 1, "uploadId": "../../x", "task": "t"}',
        f'{{"version": 1, "uploadId": "{UPLOAD_ID}", "task": ""}}',
        f'{{"version": 1, "uploadId": "{UPLOAD_ID}"}}',
        f'{{"version": 1, "uploadId": "{UPLOAD_ID}", "task": "{"t" * 65}"}}',
        f'{{"version": 1, "uploadId": "{UPLOAD_ID}", "task": "../transcribe"}}',
        f'{{"version": 1, "uploadId": "{UPLOAD_ID}", "task": "Transcribe"}}',
        f'{{"version": 1, "uploadId": "{UPLOAD_ID}", "task": "transcribe\\n"}}',
    ],
)
def test_what_nobody_understands_is_malformed(body: str) -> None:
    with pytest.raises(Malformed):
        messages.decode(body)


@pytest.mark.parametrize("body", ['{"a":' + "[" * 100_000, '{"Records": [' + "[" * 100_000])
def test_what_is_nested_too_deeply_is_malformed(body: str) -> None:
    with pytest.raises(Malformed, match="nested"):
        messages.decode(body)


def test_whatever_the_depth_the_answer_is_a_batch_or_malformed() -> None:
    for depth in range(800, 1_100):
        with contextlib.suppress(Malformed):
            messages.decode(f'{{"Records": [{"[" * depth}{"]" * depth}]}}')


@pytest.mark.parametrize("task", ["t", "t" * 64, "encode-1080p"])
def test_a_name_of_letters_digits_and_dashes_is_a_task(task: str) -> None:
    assert messages.decode(messages.encode(UPLOAD_ID, task)).hints[0].task == task


def test_deleted_object_is_not_news() -> None:
    event = {"Records": [{**record(quote_plus(KEY)), "eventName": "ObjectRemoved:Delete"}]}
    with pytest.raises(Malformed):
        messages.decode(json.dumps(event))


def test_later_fields_are_ignored() -> None:
    body = json.loads(messages.encode(UPLOAD_ID, "transcribe")) | {"added": "later"}
    assert len(messages.decode(json.dumps(body)).hints) == 1


@given(st.text())
def test_any_text_is_a_batch_or_malformed(body: str) -> None:
    with contextlib.suppress(Malformed):
        assert isinstance(messages.decode(body), Batch)


@given(
    st.recursive(st.none() | st.booleans() | st.text(), lambda c: st.lists(c) | st.dictionaries(st.text(), c))
)
def test_any_records_are_a_batch_or_malformed(records: Any) -> None:
    with contextlib.suppress(Malformed):
        assert isinstance(messages.decode(json.dumps({"Records": records})), Batch)


@given(st.text())
def test_any_file_name_becomes_a_key_that_reads_back(name: str) -> None:
    key = str(RawKey(user_id="ada", upload_id=UPLOAD_ID, name=safe_name(name)))
    assert parse_raw_key(key).name == safe_name(name)
    assert len(key.encode()) < 1_024
    assert messages.decode_key(quote_plus(key)) == key


@pytest.mark.parametrize(
    ("name", "safe"),
    [
        ("talk.mp4", "talk.mp4"),
        ("../../etc/passwd", "passwd"),
        ("..\\..\\boot.ini", "boot.ini"),
        ("a\x00b\n.mp4", "a-b-.mp4"),
        ("\u202egnp.mp4", "gnp.mp4"),
        ("Vortrag über Öl.mov", "Vortrag-uber-Ol.mov"),
        (".hidden", "hidden"),
        ("日本語", "upload"),
        ("", "upload"),
        ("-rf.mp4", "rf.mp4"),
    ],
)
def test_file_name_is_made_safe(name: str, safe: str) -> None:
    assert safe_name(name) == safe


def test_long_name_keeps_its_extension() -> None:
    name = safe_name("x" * 1_000 + ".mp4")
    assert (len(name), name[-4:]) == (120, ".mp4")


@pytest.mark.parametrize(
    "key",
    ["", "uploads/a/b/c", f"uploads/ada/{UPLOAD_ID}", f"other/ada/{UPLOAD_ID}/x", f"uploads//{UPLOAD_ID}/x"],
)
def test_foreign_key_is_malformed(key: str) -> None:
    with pytest.raises(Malformed):
        parse_raw_key(key)


@pytest.mark.parametrize(
    "body",
    [
        json.dumps({"version": 1, "uploadId": UPLOAD_ID, "task": "t" * 10_000}),
        json.dumps({"version": "v" * 10_000}),
        json.dumps({"Records": [{**record(KEY), "eventName": "e" * 10_000}]}),
        "{" + "x" * 10_000,
    ],
)
def test_what_is_said_of_a_foreign_message_is_short(body: str) -> None:
    with pytest.raises(Malformed) as caught:
        messages.decode(body)
    chain: BaseException | None = caught.value
    while chain is not None:
        assert len(str(chain)) < 300
        chain = chain.__cause__ or chain.__context__
