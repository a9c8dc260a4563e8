"""Copies the brand's records into a SQLite file, and goes on with a copy that was interrupted.

python nightly_copy.py                     reads every list
python nightly_copy.py event < body.json   merges the body of a verified event into the record that it reports
"""

import json
import os
import sqlite3
import sys
from pathlib import Path

from brand_records import BrandRecords, BrandRecordsError, Retry, SqliteStore, SyncPage

COPY = os.environ.get("COPY", "copy.db")
TRY_LATER, ASK_A_PERSON, ALREADY_RUNNING = 1, 2, 75


def read_key() -> str:
    """Called for every request: a key that is replaced in the file is used at once."""
    return Path(os.environ["BRAND_RECORDS_KEY_FILE"]).read_text(encoding="utf-8")


def on_retry(retry: Retry) -> None:
    print(f"{retry.error.code}: {retry.error} Trying again in {retry.delay:.1f} s.", file=sys.stderr)


def on_page(page: SyncPage) -> None:
    print(f"{page.resource}: {len(page.records)} records", flush=True)


def main() -> int:
    try:
        with SqliteStore(COPY) as store:
            if sys.argv[1:] == ["event"]:
                print(store.apply_event(json.load(sys.stdin)))
                return 0
            with BrandRecords(os.environ.get("BRAND_RECORDS_URL"), read_key, on_retry=on_retry) as records:
                print(f"The copy is as of {records.sync(store, on_page=on_page)}, or later.")
            return 0
    except BlockingIOError as error:
        print(error, file=sys.stderr)
        return ALREADY_RUNNING
    except BrandRecordsError as error:
        print(f"{error.code}: {error}", file=sys.stderr)
        return TRY_LATER if error.is_temporary or error.code == "invalid_cursor" else ASK_A_PERSON
    except (KeyError, OSError, ValueError, sqlite3.Error) as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return ASK_A_PERSON


if __name__ == "__main__":
    sys.exit(main())
