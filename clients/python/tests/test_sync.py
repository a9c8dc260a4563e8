"""One promise: a copy equals what the service lists, whatever happens during a walk. docs/syncing.md has the rules."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from conftest import BRAND, Reply, Request, Service, page, refusal

from brand_records import RESOURCES, BrandRecords, BrandRecordsError, SqliteStore, SyncPage

Respond = Callable[[Request, object], Reply]
REQUESTS_OF_A_WALK = 8


def lists(brand: str = BRAND, **headers: str) -> Respond:
    """Lists of one page with two records, but for payouts, which have three pages."""

    def respond(request: Request, _: object) -> Reply:
        resource = request.path.split("/")[-1]
        at = int(request.query.get("cursor", "1"))
        return page(
            resource,
            [f"{resource}_{at}a", f"{resource}_{at}b"],
            str(at + 1) if resource == "payouts" and at < 3 else None,
            brand,
            **headers,
        )

    return respond


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "copy.db"


def rows(path: Path, query: str) -> list[Any]:
    with closing(sqlite3.connect(path)) as db:
        return db.execute(query).fetchall()


def sync(service: Service, path: Path, **options: Any) -> str:
    with BrandRecords(service.url, "brk_live_x") as records, SqliteStore(path) as store:
        return records.sync(store, **options)


def test_copies_every_list_and_has_a_view_of_each(service: Service, path: Path) -> None:
    service.respond = lists()
    started_at = sync(service, path)
    assert len(service.received) == REQUESTS_OF_A_WALK
    assert rows(path, "select started_at, finished_at > started_at from walks") == [(started_at, 1)]
    for resource in RESOURCES:
        expected = 6 if resource == "payouts" else 2
        assert rows(path, f"select count(*), count(distinct id), min(status), count(created_at) from {resource}") == [
            (expected, expected, "pending", expected)
        ]
    assert rows(path, "select count(*) from to_read union all select count(*) from vanished") == [(0,), (0,)]


def test_goes_on_after_the_last_page_and_reads_none_twice(service: Service, path: Path) -> None:
    service.respond = lists()

    class Killed(Exception):
        pass

    def kill(_: SyncPage) -> None:
        raise Killed

    for _ in range(REQUESTS_OF_A_WALK - 1):
        with pytest.raises(Killed):
            sync(service, path, on_page=kill)
    assert rows(path, "select count(*), count(finished_at) from walks") == [(1, 0)]
    pages: list[SyncPage] = []
    sync(service, path, on_page=pages.append)
    assert len(service.received) == REQUESTS_OF_A_WALK
    assert [(each.resource, each.to_read) for each in pages] == [("links", {})]


def test_refuses_another_brand_and_changes_nothing(service: Service, path: Path) -> None:
    service.respond = lists()
    sync(service, path)
    service.respond = lists("brd_2")
    with pytest.raises(BrandRecordsError, match="brand brd_2, not of brd_1") as refused:
        sync(service, path)
    assert (refused.value.code, refused.value.brand_id) == ("wrong_brand", "brd_2")
    other = BrandRecords(service.url, "k", expect_brand="brd_2")
    with other, SqliteStore(path) as store, pytest.raises(BrandRecordsError, match="the copy is of brand brd_1, not of brd_2"):
        other.sync(store)
    assert rows(path, "select count(*) from walks") == [(1,)]


@pytest.mark.parametrize("statement", ["create table users (id)", "create view payouts as select 1 as id"])
def test_refuses_a_file_that_is_no_copy_and_leaves_it_as_it_is(path: Path, statement: str) -> None:
    rows(path, statement)
    before = path.read_bytes()
    with pytest.raises(ValueError, match="is no copy: it has other tables or views"):
        SqliteStore(path)
    assert (path.read_bytes(), [each.name for each in path.parent.iterdir()]) == (before, [path.name])


def test_keeps_nothing_in_passing_and_makes_the_file_for_its_owner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match="is a folder: name the file of the copy"):
        SqliteStore("")
    with SqliteStore(":memory:") as store:
        store.load()
        for name in (":memory:", ":memory:-wal", ":memory:-shm"):
            assert (tmp_path / name).stat().st_mode & 0o777 == 0o600
    with SqliteStore(Path(":memory:")) as store:
        assert store.brand_id is None


def test_one_walk_writes_at_a_time(service: Service, path: Path) -> None:
    service.respond = lists()
    with SqliteStore(path) as store:
        store.load()
        with pytest.raises(BlockingIOError, match="is another walk running"):
            sync(service, path)
        with BrandRecords(service.url, "k") as records:
            records.sync(store)
            records.sync(store)
    sync(service, path)


def test_reads_a_list_from_its_start_if_its_cursor_is_refused_once_in_a_run(service: Service, path: Path) -> None:
    usual = lists()
    refused = {5}
    service.respond = lambda request, it: refusal(400, "invalid_cursor") if len(service.received) in refused else usual(request, it)
    sync(service, path)
    assert len(service.received) == REQUESTS_OF_A_WALK + 3
    assert rows(path, "select count(*) from payouts") == [(6,)]
    service.received.clear()
    refused = {4, 5, 6, 7}
    with pytest.raises(BrandRecordsError, match="invalid_cursor"):
        sync(service, path)


def test_walks_once_more_after_a_walk_that_was_interrupted_long_ago(service: Service, path: Path) -> None:
    service.respond = lists()
    with pytest.raises(ZeroDivisionError):
        sync(service, path, on_page=lambda _: 1 // 0)
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("update walks set started_at = '2026-01-01T00:00:00.000Z'")
    assert sync(service, path) > "2026-01-02"
    assert len(service.received) == 2 * REQUESTS_OF_A_WALK
    assert rows(path, "select count(finished_at) from walks") == [(2,)]


def test_leaves_half_of_the_limit_in_any_window_or_what_it_is_told(service: Service, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = 0.0
    times: list[float] = []

    def sleep(seconds: float) -> None:
        nonlocal clock
        clock += seconds

    monkeypatch.setattr("brand_records.sync.sleep", sleep)
    monkeypatch.setattr("brand_records.sync.monotonic", lambda: clock)
    usual = lists(RateLimit_Policy='"brand";q=5;w=60', RateLimit='"brand";r=1;t=60')

    def respond(request: Request, it: object) -> Reply:
        times.append(clock)
        return usual(request, it)

    service.respond = respond
    sync(service, path)
    assert times == [0, 0, 60, 60, 120, 120, 180, 180]
    times.clear()
    clock = 0
    sync(service, path, share=1)
    assert times == [0] * 5 + [60] * 3
    with pytest.raises(ValueError, match="share"):
        sync(service, path, share=0)


def test_keeps_fields_that_it_does_not_know_and_shows_what_is_no_longer_listed(service: Service, path: Path) -> None:
    usual = lists()
    service.respond = usual
    sync(service, path)

    def respond(request: Request, it: object) -> Reply:
        reply = usual(request, it)
        if request.path.endswith("links"):
            reply.body["data"] = [{**reply.body["data"][0], "mood": {"score": 7}}]
        return reply

    service.respond = respond
    sync(service, path)
    [(record,)] = rows(path, "select record from records where id = 'links_1a'")
    assert json.loads(record)["mood"] == {"score": 7}
    assert rows(path, "select id from vanished") == [("links_1b",)]
    assert rows(path, "select id from links") == [("links_1a",)]


def text(time: datetime) -> str:
    return time.astimezone(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def event(record_id: str = "payouts_1a", resource: str = "payouts", at: datetime | None = None, **fields: object) -> Any:
    now = text(at or datetime.now(timezone.utc))
    data = {"resource": resource, "id": record_id, "status": "paid", "previous_status": "pending", "updated_at": now, **fields}
    return {"id": "evt_1", "type": "payout.paid", "created_at": now, "brand_id": BRAND, "test": False, "dashboard_url": "", "data": data}


def test_merges_an_event_once_and_by_its_time(service: Service, path: Path) -> None:
    service.respond = lists()
    with SqliteStore(path) as store:
        with pytest.raises(BrandRecordsError, match="the copy of none yet"):
            store.apply_event(event())
        with BrandRecords(service.url, "k") as records:
            records.sync(store)
        paid = event()
        assert [store.apply_event(paid), store.apply_event(paid)] == ["changed", "not_newer"]
        assert store.apply_event(event(updated_at=None)) == "no_updated_at"
        assert store.apply_event(event("payouts_9")) == "not_in_copy"
        assert store.apply_event(event("ref_1", "refunds")) == "not_in_copy"
        assert store.apply_event(event() | {"test": True}) == "test"
        # An import may have set the record back since.
        assert store.apply_event(event("payouts_1b", at=datetime.now(timezone.utc) - timedelta(minutes=6))) == "before_listing"
        with pytest.raises(BrandRecordsError, match="of brand brd_2, the copy of brd_1"):
            store.apply_event(event() | {"brand_id": "brd_2"})
    assert rows(path, "select id, status, updated_at from payouts where status <> 'pending'") == [
        ("payouts_1a", "paid", paid["data"]["updated_at"])
    ]
    [(record,)] = rows(path, "select record from records where id = 'payouts_1a'")
    assert set(json.loads(record)) == {"id", "created_at", "updated_at", "status"}


def test_keeps_the_state_of_an_event_that_overtook_a_page(service: Service, path: Path) -> None:
    service.respond = usual = lists()
    sync(service, path)
    service.received.clear()

    def respond(request: Request, it: object) -> Reply:
        reply = usual(request, it)
        if len(service.received) == 3:
            with SqliteStore(path) as store:
                assert store.apply_event(event()) == "changed"
        return reply

    service.respond = respond
    sync(service, path)
    assert rows(path, "select id from payouts where status = 'paid'") == [("payouts_1a",)]
    assert rows(path, "select * from waiting_events") == []
    # The next listing is taken as it is.
    service.respond = usual
    sync(service, path)
    assert rows(path, "select id from payouts where status = 'paid'") == []
