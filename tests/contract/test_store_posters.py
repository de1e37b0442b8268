"""UploadStore: the choice of a poster, and the ranking that learns from it."""

import pytest
from msgspec import structs

from reelworks.domain import poster
from reelworks.domain.outcome import Outputs
from reelworks.domain.ranking import DEFAULTS, Weights
from reelworks.domain.upload import Upload
from reelworks.errors import Conflict
from reelworks.ports import UploadStore
from tests.contract.samples import T0, processing, stored_upload, upload
from tests.contract.worlds import AnyPorts

OFFERED = Outputs(prefix="processed/ann/x/poster/")


def created(store: UploadStore) -> Upload:
    row = upload()
    store.create(row)
    return row


def chosen(row: Upload, candidate: int | None, now: int = T0 + 5) -> Upload:
    return poster.chosen(row, OFFERED, candidate, now)


def taught(store: UploadStore, by: float = 0.125) -> tuple[Weights | None, Weights]:
    """A lesson on top of what is known, whatever tests before have taught."""
    known = store.ranking()
    values = tuple(value + by for value in (known.values if known else DEFAULTS))
    return known, Weights(values=values, picks=(known.picks if known else 0) + 1)


def test_a_choice_is_stored_and_can_be_taken_back(ports: AnyPorts) -> None:
    row = created(ports.store)
    after = chosen(row, 2)
    ports.store.choose_poster(row, after, None)
    assert stored_upload(ports.store, row) == after

    back = chosen(after, None, T0 + 6)
    ports.store.choose_poster(after, back, None)
    assert stored_upload(ports.store, row) == back


def test_a_choice_survives_whatever_else_happens_to_the_upload(ports: AnyPorts) -> None:
    before, _ = processing(ports.store)
    moved = structs.replace(before, due_at=T0 + 77, checks=1, updated_at=T0 + 4)
    ports.store.write_upload(before, moved)
    ports.store.choose_poster(before, chosen(before, 1), None)

    assert stored_upload(ports.store, before) == chosen(moved, 1)


def test_of_two_choices_on_what_both_saw_one_wins(ports: AnyPorts) -> None:
    row = created(ports.store)
    ports.store.choose_poster(row, chosen(row, 1), None)
    with pytest.raises(Conflict):
        ports.store.choose_poster(row, chosen(row, 2, T0 + 6), None)
    assert stored_upload(ports.store, row).poster_choice == 1


def test_a_lesson_is_learned_with_the_choice(ports: AnyPorts) -> None:
    row, lesson = created(ports.store), taught(ports.store)
    ports.store.choose_poster(row, chosen(row, 1), lesson)
    assert ports.store.ranking() == lesson[1]


def test_a_choice_that_comes_twice_teaches_once(ports: AnyPorts) -> None:
    """Its answer was lost, so it was sent again."""
    row, lesson = created(ports.store), taught(ports.store)
    for _ in range(2):
        ports.store.choose_poster(row, chosen(row, 1), lesson)
    assert ports.store.ranking() == lesson[1]


def test_a_lesson_on_what_is_no_longer_known_changes_nothing(ports: AnyPorts) -> None:
    one, other = created(ports.store), created(ports.store)
    stale, fresh = taught(ports.store, 0.25), taught(ports.store)
    ports.store.choose_poster(one, chosen(one, 1), fresh)
    with pytest.raises(Conflict):
        ports.store.choose_poster(other, chosen(other, 1), stale)

    assert ports.store.ranking() == fresh[1]
    assert stored_upload(ports.store, other) == other


def test_a_choice_for_an_upload_that_is_gone_is_a_conflict(ports: AnyPorts) -> None:
    row = upload()
    with pytest.raises(Conflict):
        ports.store.choose_poster(row, chosen(row, 1), taught(ports.store))
    assert ports.store.load(row.upload_id) is None
