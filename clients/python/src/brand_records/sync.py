from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from time import monotonic, sleep
from typing import Any, Literal, NamedTuple, Protocol

from .errors import BrandRecordsError
from .exchange import NO_BRAND
from .generated.api import RESOURCES, AnyEvent, ResourceName
from .record_list import Page, RecordList
from .transport import Retry, Transport

OLD_WALK = timedelta(hours=12)  # What a walk read first is old by then.
CLOCK_MARGIN = timedelta(minutes=5)  # Clocks may differ by as much.
OnPage = Callable[["SyncPage"], None]
ToRead = dict[ResourceName, str | None]  # each list from its cursor, or from its start
MergeOutcome = Literal["changed", "test", "no_updated_at", "not_newer", "before_listing", "not_in_copy"]


class SyncState(NamedTuple):
    brand_id: str | None  # whose records the copy holds; None before the first page
    started_at: str | None  # of the walk that was interrupted, if one was: RFC 3339, by this machine's clock
    to_read: ToRead  # what that walk still has to read, in this order


class SyncPage(NamedTuple):
    brand_id: str
    resource: ResourceName
    records: list[Any]  # as they are listed. Take them whole, also if their `updated_at` is earlier: an operator corrected them
    requested_at: str  # by this machine's clock. Merge the events that were received since: the page may be older
    listed_at: str  # by the service's clock
    started_at: str  # identifies the walk
    to_read: ToRead  # what is left after this page


class SyncStore(Protocol):
    """Where `records.sync` keeps the copy. One walk may write at a time: a store that several processes share needs a lock."""

    def load(self) -> SyncState: ...

    def write_page(self, page: SyncPage) -> None:
        """Replaces records by their ids, and stores brand and walk, in one transaction: an interrupted walk goes on after it."""

    def finish_walk(self, finished_at: str) -> None:
        """Ends the walk. Records that it has not listed are not listed any more."""


def time_text(time: datetime | None = None) -> str:
    return (time or datetime.now(timezone.utc)).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _parse_time(text: str) -> datetime:
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


class Walk:
    """Reads every list into a store, and keeps to a share of the brand's limit in any window: others waited 43 s for a page without."""

    def __init__(self, transport: Transport, store: SyncStore, share: float, deadline: float, on_page: OnPage) -> None:
        if not 0 < share <= 1:
            raise ValueError("share must be more than 0 and at most 1")
        self._transport, self._store, self._share, self._deadline, self._on_page = transport, store, share, deadline, on_page
        self._counted: list[float] = []  # when responses came, after their requests were counted
        self._restarted: set[ResourceName] = set()

    def run(self, expect_brand: str | None) -> str:
        brand, started_at, to_read = self._store.load()
        if None not in (brand, expect_brand) and brand != expect_brand:
            raise BrandRecordsError(f"the copy is of brand {brand}, not of {expect_brand}", "wrong_brand", brand_id=brand)
        self._brand = brand or expect_brand
        if started_at is not None:
            self._walk(started_at, to_read)
            if datetime.now(timezone.utc) - _parse_time(started_at) <= OLD_WALK:
                return started_at
        return self._walk(time_text(), dict.fromkeys(RESOURCES))

    def _walk(self, started_at: str, to_read: ToRead) -> str:
        while to_read:
            (resource, cursor), *others = to_read.items()
            requested_at = time_text()
            page = self._read(resource, cursor)
            self._brand = page.meta.brand_id
            if self._brand is None:
                raise BrandRecordsError(f"the response has {NO_BRAND}", status=page.meta.status, request_id=page.meta.request_id)
            to_read = dict(others if page.next_cursor is None else [(resource, page.next_cursor), *others])
            written = SyncPage(self._brand, resource, page.data, requested_at, time_text(page.meta.date), started_at, to_read)
            self._store.write_page(written)
            self._on_page(written)
            self._counted.append(monotonic())
            if to_read and (limit := page.meta.rate_limit) and len(self._counted) >= (allowed := max(1, int(limit.limit * self._share))):
                sleep(max(0.0, self._counted[-allowed] + limit.window_seconds - monotonic()))
        self._store.finish_walk(time_text())
        return started_at

    def _read(self, resource: ResourceName, cursor: str | None) -> Page[Any]:
        """Reads a list from its start if its cursor is refused, once in a run."""
        try:
            return RecordList(self._transport, resource, {"cursor": cursor, "deadline": self._deadline}, self._brand).page()
        except BrandRecordsError as error:
            if error.code != "invalid_cursor" or resource in self._restarted:
                raise
            self._restarted.add(resource)
            self._transport.on_retry(Retry(error, error.attempts, 0, f"/api/v1/{resource}"))
            return self._read(resource, None)


def merge_event(record: dict[str, Any], listed_at: str, event: AnyEvent) -> MergeOutcome:
    """Merges a verified event into the record that it reports, which the service listed at a time.

    Insert nothing for a record that the copy lacks: an event has half of it.
    """
    updated_at = event["data"].get("updated_at")
    if event["test"] or not isinstance(updated_at, str):
        return "test" if event["test"] else "no_updated_at"
    if updated_at <= record["updated_at"]:
        return "not_newer"
    # An import may have set the record back since.
    if _parse_time(event["created_at"]) < _parse_time(listed_at) - CLOCK_MARGIN:
        return "before_listing"
    # An event has fields that are none of the record's, such as previous_status.
    record.update({name: value for name, value in event["data"].items() if name in record})
    return "changed"
