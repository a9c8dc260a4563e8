"""Keeps a copy of one brand's records in SQLite. README.md explains it; sync.js does the same.

    python3 sync.py                     read every list; an interrupted walk continues where it stopped
    python3 sync.py event < body.json   merge a verified event's body into the record that it reports
"""

import http.client, json, os, random, re, sqlite3, sys, threading, time, urllib.error, urllib.request
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from pathlib import Path
from urllib.parse import urlencode, urlsplit

RESOURCES = ["campaigns", "submissions", "payouts", "deposits", "conversions", "links"]
REQUEST_SECONDS_MAX = 60
FAILURES_MAX, WAITS_MAX = 9, 60  # of one request
KEY_FILE_SECONDS_MAX = 30  # while another program replaces it
OLD_WALK_DAYS = 0.5
CLOCK_MARGIN = "-5 minutes"

BRAND_RECORDS_URL = os.environ.get("BRAND_RECORDS_URL", "").strip().rstrip("/")
REQUESTS_PER_MINUTE = os.environ.get("REQUESTS_PER_MINUTE", "")
COPY = os.environ.get("COPY") or "copy.db"


class Stop(Exception):
    """Ends the program with an exit code: 1 run it again later, 2 a person must act, 75 another walk is running."""

    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


def now():
    return to_text(datetime.now(timezone.utc))


def to_text(moment):
    return moment.astimezone(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def to_json(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def log(message):
    print(message, file=sys.stderr, flush=True)


# The copy


def open_copy(create=False):
    """Open the copy, in autocommit mode: `with db` and `begin` make a transaction."""
    if not create and not Path(COPY).exists():
        raise Stop(2, f"no walk has been made into {COPY}")
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
            page, brand, asked_at, listed_at = get_page(db, resource, cursor)
            cursor = page.get("next_cursor")
            with db:
                db.execute("begin immediate")
                require_brand(db, brand)
                if walk_id is None:
                    db.execute("insert or ignore into brand values (1, ?)", [brand])
                    walk_id = db.execute("insert into walks (started_at) values (?)", [started_at]).lastrowid
                    db.executemany("insert into to_read (resource) values (?)", [[name] for name in RESOURCES])
                for record in page["data"]:
                    store(db, resource, record, walk_id, listed_at)
                merge_waiting(db, resource, asked_at)
                if cursor:
                    db.execute("update to_read set cursor = ? where resource = ?", [cursor, resource])
                else:
                    db.execute("delete from to_read where resource = ?", [resource])
            requests, records = requests + 1, records + len(page["data"])
        print(f"{resource}: {records} records (requests: {requests})", flush=True)
    with db:
        db.execute("begin immediate")
        db.execute("update walks set finished_at = ? where id = ?", [now(), walk_id])
        db.execute("delete from waiting_events")
    for [text] in db.execute("select resource || ': ' || count(*) from vanished group by resource"):
        log(f"{text} no longer listed, see the view vanished")
    if is_old:
        walk(db)  # What the interrupted walk read first is old by now.


def store(db, resource, record, walk_id, listed_at):
    """Take the record as listed, also if its `updated_at` is earlier: an import may have set it back."""
    db.execute(
        """insert or replace into records (resource, id, created_at, updated_at, record, listed_in, listed_at)
           values (?, ?, ?, ?, ?, ?, ?)""",
        [resource, record["id"], record["created_at"], record["updated_at"], to_json(record), walk_id, listed_at],
    )


def get_page(db, resource, cursor):
    """Return a page, its brand, and when it was requested and listed. Wait and ask again as the responses say."""
    query = urlencode({"limit": 200, **({"cursor": cursor} if cursor else {})})
    url = f"{BRAND_RECORDS_URL}/api/v1/{resource}?{query}"
    failures = waits = 0
    while True:
        time.sleep(60 / float(REQUESTS_PER_MINUTE or "inf"))
        key, asked_at = read_key(), now()
        status, headers, body = send(url, key)
        if status == 200 and "X-Brand-Id" not in headers:
            raise Stop(2, f"{url} returns no X-Brand-Id: is BRAND_RECORDS_URL the address of the service?")
        if status == 200 and isinstance(body.get("data"), list):
            return body, headers["X-Brand-Id"], asked_at, date_of(headers)
        error = body["error"] if isinstance(body.get("error"), dict) else {}
        problem = f"{resource}: {error.get('code', f'HTTP {status}')}: {error.get('message', explain(status, headers))}"
        if status == 401 and read_key() != key:
            continue  # The key was replaced while the request was on its way.
        if error.get("code") == "invalid_cursor":
            db.execute("update to_read set cursor = null where resource = ?", [resource])
            if resource in restarted:
                raise Stop(1, f"{problem} The next run reads this list from its start.")
            restarted.add(resource)
            log(f"{problem} Reading this list from its start.")
            return get_page(db, resource, None)
        may_pass = status in (0, 200, 408) or status >= 500  # A 200 without a whole page was cut on its way.
        if status == 429 and waits < WAITS_MAX:
            waits, pause = waits + 1, 1
        elif may_pass and failures < FAILURES_MAX:
            failures, pause = failures + 1, min(60, 2**failures) * random.uniform(1, 1.2)
        else:
            raise Stop(1 if may_pass or status == 429 else 2, problem)
        pause = max(pause, min(3600, seconds_of(headers.get("Retry-After", ""))))
        log(f"{problem} Trying again in {pause:.0f} s.")
        time.sleep(pause)


def seconds_of(retry_after):
    """Seconds, or one of the three forms of an HTTP date; 0 for anything else."""
    if re.fullmatch("[0-9]+", retry_after):
        return float(retry_after)  # int() refuses 4,300 digits.
    for form in ("%a, %d %b %Y %H:%M:%S GMT", "%A, %d-%b-%y %H:%M:%S GMT", "%a %b %d %H:%M:%S %Y"):
        try:
            at = datetime.strptime(retry_after, form).replace(tzinfo=timezone.utc)
            return max(0, (at - datetime.now(timezone.utc)).total_seconds())
        except ValueError:
            pass
    return 0


restarted = set()  # The lists whose cursor was refused in this run.


def explain(status, headers):
    if status == 200:
        return "the body is not a whole page."
    return f"it redirects to {headers['Location']}: is BRAND_RECORDS_URL right?" if "Location" in headers else "no explanation."


def date_of(headers):
    """Return the service's time, which events have too, or this machine's if the response has none."""
    try:
        return to_text(parsedate_to_datetime(headers["Date"]))
    except (TypeError, ValueError):
        return now()


class NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None  # The API has none, and a key must not follow one to another host.


def send(url, key):
    """Return status, headers and the JSON object; status 0 and the reason if no complete response came in time."""
    responses = []
    # The timeout of urllib is for each read: a thread bounds the whole.
    thread = threading.Thread(target=lambda: responses.append(exchange(url, key)), daemon=True)
    thread.start()
    thread.join(REQUEST_SECONDS_MAX)
    late = 0, {}, {"error": {"code": "no response", "message": f"it took over {REQUEST_SECONDS_MAX} s."}}
    return responses[0] if responses else late


def exchange(url, key):
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


def read_key(seconds_max=KEY_FILE_SECONDS_MAX):
    """Read the key for every request, so that a key replaced in BRAND_RECORDS_KEY_FILE is used at once. Wait for one that is being replaced."""
    path = os.environ.get("BRAND_RECORDS_KEY_FILE")
    for seconds in range(seconds_max + 1):
        problem = f"there is no key in {path or 'BRAND_RECORDS_KEY'}"
        try:
            key = Path(path).read_text(errors="replace").strip() if path else os.environ.get("BRAND_RECORDS_KEY", "")
        except FileNotFoundError as error:
            key, problem = "", str(error)
        if re.fullmatch("[!-~]+", key):
            return key
        if key or not path or seconds == seconds_max:
            raise Stop(2, problem)
        if seconds == 0:
            log(f"{problem}: waiting for one")
        time.sleep(1)


# Events, which are hints between two walks


def apply_event(db, event):
    """Merge a verified event into its record, if the event is newer. Return what was done."""
    event = event if isinstance(event, dict) else {}
    data = event["data"] if isinstance(event.get("data"), dict) else {}
    resource, record_id, updated_at = data.get("resource"), data.get("id"), data.get("updated_at")
    if not all(isinstance(text, str) for text in (event.get("brand_id"), event.get("created_at"), resource, record_id)):
        raise Stop(2, "this is not the body of an event")
    with db:
        db.execute("begin immediate")
        if db.execute("select 1 from walks").fetchone() is None:
            raise Stop(2, f"no walk has been made into {COPY}")
        require_brand(db, event["brand_id"])
        if event.get("test") is True:
            return "nothing is changed: this is a test event"
        if not isinstance(updated_at, str):
            return f"{record_id} is not changed: the event has no updated_at"
        db.execute(
            "insert or replace into waiting_events values (?, ?, ?, ?, ?)",
            [resource, record_id, updated_at, to_json(event), now()],
        )
        return merge(db, event)


def merge_waiting(db, resource, asked_at):
    """Merge the events that came after a page was requested, and that it may lack. With a margin, as the clock may have been set back since:
    what is not newer changes nothing."""
    waiting = """select event from waiting_events
                 where resource = ? and julianday(received_at) >= julianday(?, ?) order by updated_at"""
    for [text] in db.execute(waiting, [resource, asked_at, CLOCK_MARGIN]).fetchall():
        merge(db, json.loads(text))


def merge(db, event):
    data = event["data"]
    resource, record_id, updated_at = data["resource"], data["id"], data["updated_at"]
    row = db.execute(
        """select record, ifnull(julianday(?) >= julianday(listed_at, ?), false)
           from records where resource = ? and id = ?""",
        [event["created_at"], CLOCK_MARGIN, resource, record_id],
    ).fetchone()
    if row is None:
        return f"{record_id} is not in the copy: the next walk brings the whole record"
    record, is_since_listing = json.loads(row[0]), row[1]
    if updated_at <= record["updated_at"]:
        return f"{record_id} is not changed: the copy has this state or a later one"
    if not is_since_listing:
        return f"{record_id} is not changed: the copy has a later listing"
    # An event has fields that are none of the record's, such as previous_status.
    record.update({name: value for name, value in data.items() if name in record})
    db.execute(
        "update records set updated_at = ?, record = ? where resource = ? and id = ?",
        [updated_at, to_json(record), resource, record_id],
    )
    return f"{record_id} is changed"


def is_address(url):
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0 and not re.search(r"\s", url)
    except ValueError:
        return False


def main(arguments):
    if arguments not in ([], ["walk"], ["event"]):
        raise Stop(2, "usage: sync.py [walk], or sync.py event < body.json")
    if not Path(COPY).parent.is_dir():
        raise Stop(2, f"the folder of {COPY} is missing")
    if arguments == ["event"]:
        return print(apply_event(open_copy(), parse(sys.stdin.buffer.read())))
    rate_is_right = re.fullmatch("([1-9][0-9]{0,5})?", REQUESTS_PER_MINUTE)
    for name, is_right in ("BRAND_RECORDS_URL", is_address(BRAND_RECORDS_URL)), ("REQUESTS_PER_MINUTE", rate_is_right):
        if not is_right:
            raise Stop(2, f"{name} is missing or malformed: README.md explains the settings")
    read_key(seconds_max=0)
    held = lock()
    walk(open_copy(create=True))
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
