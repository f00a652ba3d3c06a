import pytest
from store_records import a_run

from agent.errors import NotFoundError
from agent.store.errors import StaleLeaseError
from agent.store.gateway import RecordStore

P = "default"
ODD = {"text": "a\x00b \ud800 ü", "number": 0.1, "list": [None, True, {}]}


def test_a_place_comes_back_exactly_and_a_new_one_forgets_what_tasks_wrote(record_store: RecordStore) -> None:
    record_store.add_run(a_run())
    fence = record_store.take_lease(P, "r-1", "here:1:1", 30)
    assert fence is not None
    assert record_store.loop.place(P, "r-1") is None
    record_store.loop.put_place(P, "r-1", 0, ODD, fence=fence)
    record_store.loop.put_write(P, "r-1", 1, {"pause": ODD}, fence=fence)
    record_store.loop.put_write(P, "r-1", 0, {"update": {}}, fence=fence)
    record_store.loop.put_write(P, "r-1", 1, {"update": ODD}, fence=fence)
    place = record_store.loop.place(P, "r-1")
    assert place is not None
    assert (place.number, place.state, place.written) == (0, ODD, {0: {"update": {}}, 1: {"update": ODD}})
    record_store.loop.put_place(P, "r-1", 1, {}, fence=fence)
    place = record_store.loop.place(P, "r-1")
    assert place is not None
    assert (place.number, place.state, place.written) == (1, {}, {})


def test_nothing_is_written_with_an_old_fence_or_without_a_run(record_store: RecordStore) -> None:
    record_store.add_run(a_run())
    fence = record_store.take_lease(P, "r-1", "here:1:1", 30)
    assert fence is not None
    record_store.loop.put_place(P, "r-1", 0, {}, fence=fence)
    for old in (fence - 1, fence + 1):
        with pytest.raises(StaleLeaseError):
            record_store.loop.put_place(P, "r-1", 1, {}, fence=old)
        with pytest.raises(StaleLeaseError):
            record_store.loop.put_write(P, "r-1", 0, {}, fence=old)
    with pytest.raises(NotFoundError):
        record_store.loop.put_place(P, "r-2", 0, {}, fence=1)
    place = record_store.loop.place(P, "r-1")
    assert place is not None
    assert (place.number, place.written) == (0, {})
