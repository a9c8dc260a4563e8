"""Drives the package brand-records: what Ask in drivers.ts says."""

import base64
import json
import sys
from typing import Any

from brand_records import (
    BrandRecords,
    BrandRecordsError,
    DeliveryError,
    Retry,
    SqliteStore,
    SyncPage,
    verify_delivery,
)

ask = json.loads(sys.argv[1])
ids: list[str] = []
retries: list[dict[str, float]] = []
keys = list(ask["keys"])


def next_key() -> str:
    return str(keys.pop(0) if len(keys) > 1 else keys[0])


def on_retry(retry: Retry) -> None:
    retries.append({"delay_ms": retry.delay * 1_000, "attempts": retry.attempts})


def open_client() -> BrandRecords:
    given = {name: ask[f"{name}_ms"] / 1_000 for name in ("timeout", "deadline") if f"{name}_ms" in ask}
    key = next_key if len(keys) > 1 else keys[0]
    return BrandRecords(
        ask["url"],
        key,
        expect_brand=ask.get("expect_brand"),
        on_retry=on_retry,
        **given,
    )


def read_list() -> dict[str, Any]:
    limit = {"limit": ask["limit"]} if "limit" in ask else {}
    for record in open_client().list(ask["resource"], **ask.get("filters", {}), **limit):
        ids.append(record["id"])
    return {}


def prepare() -> dict[str, Any]:
    return {"plan_id": open_client().prepare_campaign_plan(**ask["plan"])["plan_id"]}


def verify() -> dict[str, Any]:
    headers = [(name, value) for name, value in ask["headers"]]
    return {
        "event_id": verify_delivery(
            base64.b64decode(ask["body_base64"]),
            headers,
            ask["secrets"],
            now=ask.get("now"),
        )["id"]
    }


def sync() -> dict[str, Any]:
    def on_page(page: SyncPage) -> None:
        ids.extend(record["id"] for record in page.records)

    deadline = {"deadline": ask["deadline_ms"] / 1_000} if "deadline_ms" in ask else {}
    with SqliteStore(ask["db"]) as store:
        open_client().sync(store, on_page=on_page, **deadline)
    return {}


FIELDS = (
    "code",
    "status",
    "attempts",
    "field",
    "request_id",
    "plan_request_id",
    "retry_after",
)
done: dict[str, Any] = {"error": None}
try:
    done |= {"list": read_list, "prepare": prepare, "verify": verify, "sync": sync}[ask["action"]]()
except BrandRecordsError as error:
    told = {name: getattr(error, name) for name in FIELDS}
    done["error"] = {name: value for name, value in told.items() if value is not None} | {"message": str(error)}
except DeliveryError as error:
    done["error"] = {"code": error.code, "message": str(error)}
print(json.dumps({"ids": ids, **done, "retries": retries}))
