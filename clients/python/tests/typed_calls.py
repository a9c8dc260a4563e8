"""Compiled by mypy, as strictly as it can be: what is marked must be refused, as an unused mark is an error."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timezone
from typing import TYPE_CHECKING

from brand_records import BrandRecords, BrandRecordsError, Payout, PayoutStatus, SyncStore, is_known_event, verify_delivery

if TYPE_CHECKING:
    from typing_extensions import assert_never, assert_type


def first_amount(records: BrandRecords) -> int:
    page = records.payouts(status="paid", created_from=datetime.now(timezone.utc), limit=1).page()
    assert_type(page.data, "list[Payout]")
    return page.data[0]["amount_centavos"]


def mistakes(records: BrandRecords, payout: Payout) -> None:
    records.payouts(status="payed")  # type: ignore[arg-type]
    records.links(link_id="lnk_1")  # type: ignore[call-arg]
    records.links(created_from=5)  # type: ignore[arg-type]
    records.prepare_campaign_plan(title="t")  # type: ignore[call-arg]
    status: PayoutStatus = "payed"  # type: ignore[assignment]
    print(status, payout["amount"], payout["status"] == "payed")  # type: ignore[typeddict-item, comparison-overlap]
    BrandRecords("https://records.example", lambda: 5)  # type: ignore[arg-type, return-value]


def amount_of(body: bytes, headers: Mapping[str, str]) -> int:
    event = verify_delivery(body, headers, "whsec_x")
    if not is_known_event(event):
        return 0
    if event["type"] == "payout.paid":
        return event["data"]["amount_centavos"]
    if event["type"] == "campaign.settled":
        return event["data"]["paid_centavos"]
    if event["type"] == "submission.approved" or event["type"] == "submission.rejected":
        return event["data"]["earned_centavos"]
    assert_never(event)


def is_limit(error: Exception) -> bool:
    return isinstance(error, BrandRecordsError) and error.code == "rate_limited"


def copy(records: BrandRecords, store: SyncStore) -> str:
    return records.sync(store, share=0.25)
