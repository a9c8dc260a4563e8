"""Keeps a copy of one brand's records in SQLite. README.md explains it; sync.js does the same.

    python3 sync.py                     read every list; an interrupted walk continues where it stopped
    python3 sync.py event < body.json   merge a verified event's body into the record that it reports
"""

import http.client, json, os, random, re, sqlite3, sys, time, urllib.error, urllib.request
from datetime import datetime, timezone
from pathlib import Path
from urllib.parse import urlencode

RESOURCES = ["campaigns", "submissions", "payouts", "deposits", "conversions", "links"]
REQUEST_SECONDS_MAX = 60
FAILURES_MAX, WAITS_MAX = 9, 60  # of one request
OLD_WALK_DAYS = 0.5
SETTINGS = {"BASE_URL": "https?://.+", "REQUESTS_PER_MINUTE": "([1-9][0-9]{0,5})?"}

COPY = os.environ.get("COPY") or "copy.db"


class Stop(Exception):
    """Ends the program with an exit code: 1 run it again later, 2 a person must act, 75 another walk is running."""

    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


def now():
    return datetime.now(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def to_json(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def log(message):
    print(message, file=sys.stderr, flush=True)


# The copy


def open_copy():
    """Open the copy, in autocommit mode: `with db` and `begin` make a transaction."""
    db = sqlite3.connect(COPY, timeout=30, isolation_level=None)
    db.executescript(Path(__file__).with_name("layout.sql").read_text(encoding="utf-8"))
    return db


def lock():
    """Refuse a second walk. Keep the result: the lock ends with it, so also with a killed process."""
    held = sqlite3.connect(f"{COPY}.lock", timeout=0, isolation_level=None)
    try:
        held.execute("begin exclusive")
    except sqlite3.OperationalError as error:
        raise Stop(75 if "locked" in str(error) else 1, f"{COPY}.lock: {error}: is another walk running?") from None
    return held


def require_brand(db, brand):
    """Refuse the records and events of another brand than the copy's."""
    stored = db.execute("select id from brand").fetchone()
    for source, expected in ("BRAND_ID", os.environ.get("BRAND_ID")), (COPY, stored and stored[0]):
        if expected and expected != brand:
            raise Stop(2, f"this is brand {brand}, but {source} is for {expected}. Nothing was written.")


# Walking the lists


def walk(db):
    """Read every list. A page and the next cursor are one transaction: a killed walk continues after its last page."""
    walk_id, started_at, is_old = db.execute(
        "select id, started_at, julianday('now') - julianday(started_at) > ? from walks where finished_at is null",
        [OLD_WALK_DAYS],
    ).fetchone() or (None, now(), False)
    to_read = [(resource, None) for resource in RESOURCES]
    if walk_id is not None:
        log(f"continuing the walk that began at {started_at}")
        to_read = db.execute("select resource, cursor from to_read order by rowid").fetchall()
    for resource, cursor in to_read:
        requests = records = 0
        while requests == 0 or cursor:
            page, brand, asked_at = get_page(db, resource, cursor)
            cursor = page.get("next_cursor")
            with db:
                db.execute("begin immediate")
                require_brand(db, brand)
                if walk_id is None:
                    db.execute("insert or ignore into brand values (1, ?)", [brand])
                    walk_id = db.execute("insert into walks (started_at) values (?)", [started_at]).lastrowid
                    db.executemany("insert into to_read (resource) values (?)", [[name] for name in RESOURCES])
                for record in page["data"]:
                    store(db, resource, record, walk_id, asked_at)
                if cursor:
                    db.execute("update to_read set cursor = ? where resource = ?", [cursor, resource])
                else:
                    db.execute("delete from to_read where resource = ?", [resource])
            requests, records = requests + 1, records + len(page["data"])
        print(f"{resource}: {records} records (requests: {requests})", flush=True)
    db.execute("update walks set finished_at = ? where id = ?", [now(), walk_id])
    for [text] in db.execute("select resource || ': ' || count(*) from vanished group by resource"):
        log(f"{text} no longer listed, see the view vanished")
    if is_old:
        walk(db)  # What the interrupted walk read first is old by now.


def store(db, resource, record, walk_id, asked_at):
    """Take the record as listed, unless an event has merged a later state into it since the page was requested."""
    db.execute(
        """insert into records (resource, id, created_at, updated_at, record, listed_in) values (?, ?, ?, ?, ?, ?)
           on conflict (resource, id) do update
              set updated_at = excluded.updated_at, record = excluded.record, event_at = null
            where excluded.updated_at >= records.updated_at or records.event_at is null or records.event_at < ?""",
        [resource, record["id"], record["created_at"], record["updated_at"], to_json(record), walk_id, asked_at],
    )
    db.execute("update records set listed_in = ? where resource = ? and id = ?", [walk_id, resource, record["id"]])


def get_page(db, resource, cursor):
    """Return a page, its brand, and when it was requested. Wait and ask again as the responses say."""
    query = urlencode({"limit": 200, **({"cursor": cursor} if cursor else {})})
    url = f"{os.environ.get('BASE_URL', '').rstrip('/')}/api/v1/{resource}?{query}"
    failures = waits = 0
    while True:
        time.sleep(60 / float(os.environ.get("REQUESTS_PER_MINUTE") or "inf"))
        key, asked_at = read_key(), now()
        status, headers, body = send(url, key)
        if status == 200 and "X-Brand-Id" not in headers:
            raise Stop(2, f"{url} returns no X-Brand-Id: is BASE_URL the address of the service?")
        if status == 200 and isinstance(body.get("data"), list):
            return body, headers["X-Brand-Id"], asked_at
        error = body["error"] if isinstance(body.get("error"), dict) else {}
        problem = f"{resource}: {error.get('code', f'HTTP {status}')}: {error.get('message', 'no explanation')}"
        if status == 401 and read_key() != key:
            continue  # The key was replaced while the request was on its way.
        if error.get("code") == "invalid_cursor":
            db.execute("update to_read set cursor = null where resource = ?", [resource])
            raise Stop(1, f"{problem} The next run reads this list from its start.")
        if status == 429 and waits < WAITS_MAX:
            waits, pause = waits + 1, 1
        elif (status == 0 or status >= 500) and failures < FAILURES_MAX:
            failures, pause = failures + 1, min(60, 2**failures) * random.uniform(1, 1.2)
        else:
            raise Stop(1 if status in (0, 429) or status >= 500 else 2, problem)
        retry_after = headers.get("Retry-After", "")
        pause = max(pause, min(3600, int(retry_after)) if re.fullmatch("[0-9]{1,9}", retry_after) else 0)
        log(f"{problem} Trying again in {pause:.0f} s.")
        time.sleep(pause)


class NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None  # The API has none, and a key must not follow one to another host.


def send(url, key):
    """Return status, headers and the JSON object; status 0 and the reason if no complete response came."""
    request = urllib.request.Request(url, headers={"Authorization": f"Bearer {key}"})
    try:
        try:
            response = urllib.request.build_opener(NoRedirects).open(request, timeout=REQUEST_SECONDS_MAX)
        except urllib.error.HTTPError as error:
            response = error
        with response:
            text = response.read()
    except (OSError, http.client.HTTPException) as error:
        return 0, {}, {"error": {"code": "no response", "message": f"{error}."}}
    body = parse(text)
    return response.status, response.headers, body if isinstance(body, dict) else {}


def parse(text):
    try:
        return json.loads(text)
    except ValueError:
        return None


def read_key():
    """Read the key for every request, so that a key replaced in KEY_FILE is used at once."""
    path = os.environ.get("KEY_FILE")
    key = Path(path).read_text(errors="replace").strip() if path else os.environ.get("KEY", "")
    if not re.fullmatch("[!-~]+", key):
        raise Stop(2, f"there is no key in {path or 'KEY'}")
    return key


# Events, which are hints between two walks


def apply_event(db, event):
    """Merge a verified event into its record, if the event is newer. Return what was done."""
    try:
        data, brand = event["data"], event["brand_id"]
        resource, record_id, updated_at = data["resource"], data["id"], data.get("updated_at", "")
    except (KeyError, TypeError):
        raise Stop(2, "this is not the body of an event") from None
    with db:
        db.execute("begin immediate")
        require_brand(db, brand)
        row = db.execute("select record from records where resource = ? and id = ?", [resource, record_id]).fetchone()
        if row is None:
            return f"{record_id} is not in the copy: the next walk brings the whole record"
        record = json.loads(row[0])
        if updated_at <= record["updated_at"]:
            return f"{record_id} is not changed: the copy has this state or a later one"
        # An event has fields that are none of the record's, such as previous_status.
        record.update({name: value for name, value in data.items() if name in record})
        db.execute(
            "update records set updated_at = ?, record = ?, event_at = ? where resource = ? and id = ?",
            [updated_at, to_json(record), now(), resource, record_id],
        )
    return f"{record_id} is changed"


def main(arguments):
    if arguments == ["event"]:
        return print(apply_event(open_copy(), parse(sys.stdin.buffer.read())))
    if arguments not in ([], ["walk"]):
        raise Stop(2, "usage: sync.py [walk], or sync.py event < body.json")
    for name, pattern in SETTINGS.items():
        if not re.fullmatch(pattern, os.environ.get(name, "")):
            raise Stop(2, f"{name} is missing or malformed: README.md explains the settings")
    held = lock()
    walk(open_copy())
    held.close()


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except Stop as stop:
        log(stop)
        sys.exit(stop.code)
    except sqlite3.Error as error:
        log(f"{COPY}: {error}")
        sys.exit(1)
    except OSError as error:
        log(error)  # A file cannot be read.
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)
