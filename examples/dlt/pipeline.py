"""Copies a brand's records into DuckDB with dlt. README.md says how to run it, and what it cannot see.

pipeline.py        records that were created since the last run
pipeline.py full   every record, so also what changed in older ones
"""

import os
import sys
from datetime import datetime, timezone

# dlt would report its use to its makers.
os.environ.setdefault("RUNTIME__DLTHUB_TELEMETRY", "false")

import dlt
from dlt.sources.rest_api import rest_api_source

# Beside the fields that every record has. Named here because dlt guesses: a text that looks like a time would make its column one, and a
# field that is null in every record would have none. Fields of later versions get columns by that guess.
FIELDS = {
    "campaigns": {
        "text": "title type status plan_id currency",
        "bigint": "budget_centavos committed_centavos paid_centavos rate_per_1000_views_centavos fee_per_deliverable_centavos commission_bps",
        "json": "platforms",
        "timestamp": "starts_at ends_at settled_at",
    },
    "submissions": {
        "text": "campaign_id creator_id payout_id status platform content_url currency rejection_code",
        "bigint": "views earned_centavos",
        "timestamp": "submitted_at reviewed_at",
    },
    "payouts": {
        "text": "campaign_id creator_id status currency failure_code",
        "bigint": "amount_centavos fee_centavos submission_count conversion_count",
        "timestamp": "initiated_at paid_at",
    },
    "deposits": {
        "text": "campaign_id status currency method reference",
        "bigint": "amount_centavos refunded_centavos",
        "timestamp": "credited_at",
    },
    "conversions": {
        "text": "campaign_id link_id creator_id payout_id status external_id currency reversal_code",
        "bigint": "order_amount_centavos commission_centavos",
        "timestamp": "occurred_at",
    },
    "links": {
        "text": "campaign_id creator_id status code url destination_url",
        "bigint": "clicks conversions",
        "timestamp": "expires_at",
    },
}
COMMON = {"text": "id", "timestamp": "created_at updated_at"}

PAGE_RECORDS = 200
# A run begins before the latest record that it has: one committed late, or by a slow clock, is earlier than it.
OVERLAP_SECONDS = 3_600
# The earliest time that a record may have.
EARLIEST = "2000-01-01T00:00:00.000Z"


def columns(resource):
    return {
        name: {"name": name, "data_type": data_type}
        for fields in (COMMON, FIELDS[resource])
        for data_type, names in fields.items()
        for name in names.split()
    }


def endpoint(resource, full):
    read = {"path": resource, "data_selector": "data", "params": {"limit": PAGE_RECORDS}}
    if full:
        return read
    # A record of the future waits: as the latest seen it would end all later reads.
    read["params"]["created_before"] = datetime.now(timezone.utc).isoformat(timespec="milliseconds")
    read["incremental"] = {
        "cursor_path": "created_at",
        "initial_value": EARLIEST,
        "start_param": "created_from",
        "lag": OVERLAP_SECONDS,
    }
    return read


def source(url, key, full):
    return rest_api_source(
        {
            "client": {
                "base_url": f"{url.rstrip('/')}/api/v1/",
                "auth": {"type": "bearer", "token": key},
                # It waits for Retry-After after 429 and 503 by itself.
                "paginator": {"type": "cursor", "cursor_path": "next_cursor", "cursor_param": "cursor"},
            },
            "resource_defaults": {"primary_key": "id", "write_disposition": "merge"},
            "resources": [
                {"name": resource, "endpoint": endpoint(resource, full), "columns": columns(resource), "max_table_nesting": 0}
                for resource in FIELDS
            ],
        },
        name="brand_records",
    )


def main(arguments):
    if arguments not in ([], ["full"]):
        sys.exit("usage: pipeline.py [full]")
    pipeline = dlt.pipeline(
        "brand_records",
        destination=dlt.destinations.duckdb(os.environ.get("COPY", "copy.duckdb")),
        dataset_name="brand_records",
    )
    print(pipeline.run(source(os.environ["BRAND_RECORDS_URL"], os.environ["BRAND_RECORDS_KEY"], full=arguments == ["full"])))


if __name__ == "__main__":
    main(sys.argv[1:])
