import json
import os
import sqlite3
from collections.abc import Generator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from importlib.resources import files
from pathlib import Path

from .errors import BrandRecordsError
from .generated.api import RECORD_TYPES, AnyEvent
from .sync import MergeOutcome, SyncPage, SyncState, merge_event, time_text

_to_json = partial(json.dumps, ensure_ascii=False, separators=(",", ":"))


class SqliteStore(AbstractContextManager["SqliteStore"]):
    """A copy in a SQLite file, on a local disk: the tables of layout.sql, and a view for each resource.

    Any number of its owner's programs may read it, also during a walk; they need write access to its folder, for the files beside it.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Makes the file, for its owner alone, if there is none. Raises ValueError if it is none of a copy, and leaves it as it is."""
        # SQLite takes "" and ":memory:" for copies that end with the process: a folder, and a file's name.
        self._path = Path(path).absolute()
        if self._path.is_dir():
            raise ValueError(f"{self._path} is a folder: name the file of the copy")
        self._path.touch(0o600)
        self._lock: sqlite3.Connection | None = None
        # Autocommit: transactions begin and end where they are written.
        self._db = sqlite3.connect(self._path, timeout=30, isolation_level=None)
        layout = files("brand_records").joinpath("layout.sql").read_text("utf-8")
        for resource, record in RECORD_TYPES.items():
            columns = ", ".join(f"json_extract(record, '$.{name}') as {name}" for name in record.__annotations__)
            layout += f"create view if not exists {resource} as select {columns} from listed where resource = '{resource}';"
        names = [name for [name] in self._db.execute("select name from sqlite_master")]
        if names and "to_read" not in names:
            self._db.close()
            raise ValueError(f"{self._path} is no copy: it has other tables or views. Name another file, which is made")
        self._db.executescript(layout + "commit")

    def close(self, *_: object) -> None:
        self._db.close()
        if self._lock is not None:
            self._lock.close()

    __exit__ = close

    @property
    def brand_id(self) -> str | None:
        """The brand whose records these are; None before the first page."""
        row = self._db.execute("select id from brand").fetchone()
        return None if row is None else str(row[0])

    def load(self) -> SyncState:
        """Locks the copy for a walk, until the store is closed or the process ends. Raises BlockingIOError if another walk writes it."""
        try:
            self._lock = self._lock or sqlite3.connect(f"{self._path}.lock", timeout=0, isolation_level=None)
            self._lock.execute("begin exclusive" if not self._lock.in_transaction else "select 1")
        except sqlite3.OperationalError as error:
            raise BlockingIOError(f"{self._path}.lock: {error}: is another walk running?") from None
        return SyncState(self.brand_id, self._unfinished_walk()[1], dict(self._db.execute("select * from to_read order by rowid")))

    def write_page(self, page: SyncPage) -> None:
        with self._transaction():
            self._db.execute("insert or ignore into brand values (1, ?)", [page.brand_id])
            insert = "insert into walks (started_at) values (?)"
            walk_id = self._unfinished_walk()[0] or self._db.execute(insert, [page.started_at]).lastrowid
            for each in page.records:
                row = [page.resource, each["id"], each["created_at"], each["updated_at"], _to_json(each), walk_id, page.listed_at]
                self._db.execute("insert or replace into records values (?, ?, ?, ?, ?, ?, ?)", row)
            # Events that the page may lack. With a margin, as the clock may have been set back since: what is not newer changes nothing.
            waiting = "select event from waiting_events where resource = ? and julianday(received_at) >= julianday(?, '-5 minutes')"
            for [event] in self._db.execute(f"{waiting} order by updated_at", [page.resource, page.requested_at]).fetchall():
                self._merge(json.loads(event))
            self._db.execute("delete from to_read")
            self._db.executemany("insert into to_read values (?, ?)", page.to_read.items())

    def finish_walk(self, finished_at: str) -> None:
        with self._transaction():
            self._db.execute("update walks set finished_at = ? where finished_at is null", [finished_at])
            self._db.execute("delete from waiting_events")

    def apply_event(self, event: AnyEvent) -> MergeOutcome:
        """Merges a verified event into its record, if the event is newer. Returns what was done.

        Raises BrandRecordsError (`wrong_brand`) also before the first walk: the copy is of no brand then.
        """
        data, brand_id = event["data"], event["brand_id"]
        with self._transaction():
            if brand_id != self.brand_id:
                message = f"the event is of brand {brand_id}, the copy of {self.brand_id or 'none yet'}"
                raise BrandRecordsError(message, "wrong_brand", brand_id=brand_id)
            if isinstance(data.get("updated_at"), str) and not event["test"]:
                waiting = [data["resource"], data["id"], data["updated_at"], _to_json(event), time_text()]
                self._db.execute("insert or replace into waiting_events values (?, ?, ?, ?, ?)", waiting)
            return self._merge(event)

    def _merge(self, event: AnyEvent) -> MergeOutcome:
        key = [event["data"]["resource"], event["data"]["id"]]
        row = self._db.execute("select record, listed_at from records where resource = ? and id = ?", key).fetchone()
        if row is None:
            return "test" if event["test"] else "not_in_copy"
        if (outcome := merge_event(record := json.loads(row[0]), row[1], event)) == "changed":
            changed = [record["updated_at"], _to_json(record), *key]
            self._db.execute("update records set updated_at = ?, record = ? where resource = ? and id = ?", changed)
        return outcome

    def _unfinished_walk(self) -> tuple[int | None, str | None]:
        return self._db.execute("select id, started_at from walks where finished_at is null").fetchone() or (None, None)

    @contextmanager
    def _transaction(self) -> Generator[None, None, None]:
        self._db.execute("begin immediate")
        with self._db:  # commits, or rolls back
            yield
