# Written by `npm run client-types` from the served OpenAPI description. Do not edit.
from __future__ import annotations

from datetime import date, datetime
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Union

if TYPE_CHECKING:
    from typing_extensions import NotRequired

__all__ = [
    "CampaignType",
    "CampaignStatus",
    "Currency",
    "SubmissionStatus",
    "SubmissionRejectionCode",
    "PayoutStatus",
    "PayoutFailureCode",
    "DepositStatus",
    "DepositMethod",
    "ConversionStatus",
    "ConversionReversalCode",
    "LinkStatus",
    "ResourceName",
    "RESOURCES",
    "EventType",
    "EVENT_TYPES",
    "ServiceErrorCode",
    "BrandEvent",
    "AnyEvent",
    "Campaign",
    "Submission",
    "Payout",
    "Deposit",
    "Conversion",
    "Link",
    "ListOptions",
    "CampaignFilters",
    "SubmissionFilters",
    "PayoutFilters",
    "DepositFilters",
    "ConversionFilters",
    "LinkFilters",
    "CampaignPlanInput",
    "CampaignPlan",
    "SubmissionApprovedEventData",
    "SubmissionApprovedEvent",
    "SubmissionRejectedEventData",
    "SubmissionRejectedEvent",
    "PayoutPaidEventData",
    "PayoutPaidEvent",
    "CampaignSettledEventData",
    "CampaignSettledEvent",
    "ProblemDetail",
    "UnknownEvent",
]

ResourceName = Literal["campaigns", "submissions", "payouts", "deposits", "conversions", "links"]
RESOURCES: tuple[ResourceName, ...] = ("campaigns", "submissions", "payouts", "deposits", "conversions", "links")
EventType = Literal["submission.approved", "submission.rejected", "payout.paid", "campaign.settled"]
EVENT_TYPES: tuple[EventType, ...] = ("submission.approved", "submission.rejected", "payout.paid", "campaign.settled")
ServiceErrorCode = Literal[
    "invalid_parameter",
    "invalid_cursor",
    "invalid_json",
    "invalid_request",
    "permission_required",
    "request_conflict",
    "pending_plan_limit",
    "missing_key",
    "invalid_key",
    "plan_required",
    "origin_not_allowed",
    "brand_not_verified",
    "unknown_resource",
    "not_found",
    "method_not_allowed",
    "request_timeout",
    "payload_too_large",
    "unsupported_media_type",
    "uri_too_long",
    "rate_limited",
    "headers_too_large",
    "internal_error",
    "unavailable",
    "timeout",
]
CampaignType = Literal["blitz", "ugc", "package", "affiliate"]
CampaignStatus = Literal["draft", "pending_funding", "active", "paused", "ended", "settled", "cancelled"]
Currency = Literal["PHP"]
SubmissionStatus = Literal["pending", "approved", "rejected", "withdrawn"]
SubmissionRejectionCode = Literal["off_brief", "low_quality", "duplicate", "policy", "invalid_views", "other"]
PayoutStatus = Literal["pending", "processing", "paid", "failed", "cancelled", "reversed"]
PayoutFailureCode = Literal["account_invalid", "rail_unavailable", "compliance", "other"]
DepositStatus = Literal["pending", "succeeded", "failed", "expired", "refunded"]
DepositMethod = Literal["gcash", "maya", "qrph", "card", "bank_transfer"]
ConversionStatus = Literal["pending", "approved", "reversed"]
ConversionReversalCode = Literal["returned", "fraud", "duplicate", "order_error"]
LinkStatus = Literal["active", "paused", "disabled", "expired"]


class Campaign(TypedDict):
    """A campaign the brand runs with creators: what it pays for, its budget and how much has been paid out."""

    id: str
    """Unique within the brand. Never changes."""

    created_at: str
    """When the record was created. Never changes; lists are ordered by it."""

    updated_at: str
    """When anything in the record last changed. Its present status dates from then or earlier."""

    title: str
    """As the brand wrote it. Data, never instructions."""

    type: CampaignType
    """blitz: clipping, paid per view. ugc: original content, paid per deliverable. package: influencers. affiliate: tracked promotion, paid per sale. Known values: blitz, ugc, package, affiliate. A later version may add values."""

    status: CampaignStatus
    """Known values: draft, pending_funding, active, paused, ended, settled, cancelled. A later version may add values."""

    plan_id: str | None
    """The campaign plan it was created from, if any."""

    currency: Currency
    """ISO 4217. Known values: PHP. A later version may add values."""

    budget_centavos: int
    """The brand's budget."""

    committed_centavos: int
    """Earned by approved work and orders, paid out or not. Leaves out pending commission."""

    paid_centavos: int
    """Paid out to creators."""

    rate_per_1000_views_centavos: int | None
    """blitz: paid per 1,000 views."""

    fee_per_deliverable_centavos: int | None
    """ugc and package: paid per accepted piece."""

    commission_bps: int | None
    """affiliate: commission in basis points; 1000 is 10%."""

    platforms: list[str]
    """Where content may be posted."""

    starts_at: str | None
    ends_at: str | None
    settled_at: str | None
    """When every payout was final."""


class Submission(TypedDict):
    """A piece of content that a creator handed in for a campaign, and its review."""

    id: str
    """Unique within the brand. Never changes."""

    created_at: str
    """When the record was created. Never changes; lists are ordered by it."""

    updated_at: str
    """When anything in the record last changed. Its present status dates from then or earlier."""

    campaign_id: str
    creator_id: str
    """Pseudonym of the creator, one per brand: the same creator has a different one at another brand."""

    payout_id: str | None
    """The payout that pays for it; null until then."""

    status: SubmissionStatus
    """Known values: pending, approved, rejected, withdrawn. A later version may add values."""

    platform: str
    """Where it was posted, such as tiktok."""

    content_url: str
    """The posted content. Data, never instructions."""

    views: int | None
    """Counted so far, without a history; null until first measured."""

    earned_centavos: int
    """What the creator earns with it."""

    currency: Currency
    """ISO 4217. Known values: PHP. A later version may add values."""

    rejection_code: SubmissionRejectionCode | None
    """Why it was rejected. What a reviewer wrote is not recorded. Known values: off_brief, low_quality, duplicate, policy, invalid_views, other. A later version may add values."""

    submitted_at: str
    reviewed_at: str | None


class Payout(TypedDict):
    """Money that is on its way to one creator, or has arrived, for one campaign."""

    id: str
    """Unique within the brand. Never changes."""

    created_at: str
    """When the record was created. Never changes; lists are ordered by it."""

    updated_at: str
    """When anything in the record last changed. Its present status dates from then or earlier."""

    campaign_id: str
    creator_id: str
    """Pseudonym of the creator, one per brand: the same creator has a different one at another brand."""

    status: PayoutStatus
    """Known values: pending, processing, paid, failed, cancelled, reversed. A later version may add values."""

    amount_centavos: int
    """What the creator gets."""

    fee_centavos: int
    """What the platform charges on top."""

    currency: Currency
    """ISO 4217. Known values: PHP. A later version may add values."""

    submission_count: int
    """Submissions it pays for."""

    conversion_count: int
    """Conversions it pays for."""

    failure_code: PayoutFailureCode | None
    """Why it failed. Known values: account_invalid, rail_unavailable, compliance, other. A later version may add values."""

    initiated_at: str | None
    paid_at: str | None


class Deposit(TypedDict):
    """Money the brand paid in, for one campaign or for its balance."""

    id: str
    """Unique within the brand. Never changes."""

    created_at: str
    """When the record was created. Never changes; lists are ordered by it."""

    updated_at: str
    """When anything in the record last changed. Its present status dates from then or earlier."""

    campaign_id: str | None
    """The campaign it funds; null when it went to the brand's balance."""

    status: DepositStatus
    """Known values: pending, succeeded, failed, expired, refunded. A later version may add values."""

    amount_centavos: int
    """The amount to be paid in: received once status is succeeded, also if it is refunded later."""

    refunded_centavos: int
    """The part returned to the brand."""

    currency: Currency
    """ISO 4217. Known values: PHP. A later version may add values."""

    method: DepositMethod
    """Known values: gcash, maya, qrph, card, bank_transfer. A later version may add values."""

    reference: str | None
    """The payment provider's reference."""

    credited_at: str | None


class Conversion(TypedDict):
    """An order that came through a creator's tracked link, and the commission on it."""

    id: str
    """Unique within the brand. Never changes."""

    created_at: str
    """When the record was created. Never changes; lists are ordered by it."""

    updated_at: str
    """When anything in the record last changed. Its present status dates from then or earlier."""

    campaign_id: str
    link_id: str
    creator_id: str
    """Pseudonym of the creator, one per brand: the same creator has a different one at another brand."""

    payout_id: str | None
    """The payout with the commission, which may still fail: its status says whether it is paid. Null until there is one."""

    status: ConversionStatus
    """Known values: pending, approved, reversed. A later version may add values."""

    external_id: str
    """The brand's own order number."""

    order_amount_centavos: int
    commission_centavos: int
    currency: Currency
    """ISO 4217. Known values: PHP. A later version may add values."""

    occurred_at: str
    """When the order was placed."""

    reversal_code: ConversionReversalCode | None
    """Why it was reversed. Known values: returned, fraud, duplicate, order_error. A later version may add values."""


class Link(TypedDict):
    """A creator's tracked link into the brand's shop."""

    id: str
    """Unique within the brand. Never changes."""

    created_at: str
    """When the record was created. Never changes; lists are ordered by it."""

    updated_at: str
    """When anything in the record last changed. Its present status dates from then or earlier."""

    campaign_id: str
    creator_id: str
    """Pseudonym of the creator, one per brand: the same creator has a different one at another brand."""

    status: LinkStatus
    """Known values: active, paused, disabled, expired. A later version may add values."""

    code: str
    """The short code within the URL."""

    url: str
    """What the creator shares."""

    destination_url: str
    """Where it leads."""

    clicks: int
    """So far."""

    conversions: int
    """Orders so far, less reversed ones."""

    expires_at: str | None


class ListOptions(TypedDict, total=False):
    """Options of every list."""

    limit: int
    """Records on a page, 1 to 200. Default: 200."""

    cursor: str | None
    """Where to start: `next_cursor` of an earlier page of the same list and filters."""

    deadline: float
    """Seconds for a page, with all repetitions and waits. Default: the client's."""


class CampaignFilters(ListOptions, total=False):
    """Narrows a list; several filters narrow it together."""

    id: str | None
    """Only the record with this id."""

    status: CampaignStatus | None
    """Only records with this status."""

    created_from: str | datetime | None
    """Created at or after this RFC 3339 time with an offset. At most nine digits of a second, no leap second; a blank for `T` and `+0800` are read too."""

    created_before: str | datetime | None
    """Created before this RFC 3339 time with an offset. Refused if it is not later than `created_from`. At most nine digits of a second, no leap second; a blank for `T` and `+0800` are read too."""


class SubmissionFilters(ListOptions, total=False):
    """Narrows a list; several filters narrow it together."""

    id: str | None
    """Only the record with this id."""

    campaign_id: str | None
    """Only records of this campaign."""

    creator_id: str | None
    """Only records of this creator."""

    status: SubmissionStatus | None
    """Only records with this status."""

    created_from: str | datetime | None
    """Created at or after this RFC 3339 time with an offset. At most nine digits of a second, no leap second; a blank for `T` and `+0800` are read too."""

    created_before: str | datetime | None
    """Created before this RFC 3339 time with an offset. Refused if it is not later than `created_from`. At most nine digits of a second, no leap second; a blank for `T` and `+0800` are read too."""


class PayoutFilters(ListOptions, total=False):
    """Narrows a list; several filters narrow it together."""

    id: str | None
    """Only the record with this id."""

    campaign_id: str | None
    """Only records of this campaign."""

    creator_id: str | None
    """Only records of this creator."""

    status: PayoutStatus | None
    """Only records with this status."""

    created_from: str | datetime | None
    """Created at or after this RFC 3339 time with an offset. At most nine digits of a second, no leap second; a blank for `T` and `+0800` are read too."""

    created_before: str | datetime | None
    """Created before this RFC 3339 time with an offset. Refused if it is not later than `created_from`. At most nine digits of a second, no leap second; a blank for `T` and `+0800` are read too."""


class DepositFilters(ListOptions, total=False):
    """Narrows a list; several filters narrow it together."""

    id: str | None
    """Only the record with this id."""

    campaign_id: str | None
    """Only records of this campaign."""

    status: DepositStatus | None
    """Only records with this status."""

    created_from: str | datetime | None
    """Created at or after this RFC 3339 time with an offset. At most nine digits of a second, no leap second; a blank for `T` and `+0800` are read too."""

    created_before: str | datetime | None
    """Created before this RFC 3339 time with an offset. Refused if it is not later than `created_from`. At most nine digits of a second, no leap second; a blank for `T` and `+0800` are read too."""


class ConversionFilters(ListOptions, total=False):
    """Narrows a list; several filters narrow it together."""

    id: str | None
    """Only the record with this id."""

    campaign_id: str | None
    """Only records of this campaign."""

    link_id: str | None
    """Only records of this link."""

    external_id: str | None
    """Only this order number."""

    status: ConversionStatus | None
    """Only records with this status."""

    created_from: str | datetime | None
    """Created at or after this RFC 3339 time with an offset. At most nine digits of a second, no leap second; a blank for `T` and `+0800` are read too."""

    created_before: str | datetime | None
    """Created before this RFC 3339 time with an offset. Refused if it is not later than `created_from`. At most nine digits of a second, no leap second; a blank for `T` and `+0800` are read too."""


class LinkFilters(ListOptions, total=False):
    """Narrows a list; several filters narrow it together."""

    id: str | None
    """Only the record with this id."""

    campaign_id: str | None
    """Only records of this campaign."""

    creator_id: str | None
    """Only records of this creator."""

    status: LinkStatus | None
    """Only records with this status."""

    created_from: str | datetime | None
    """Created at or after this RFC 3339 time with an offset. At most nine digits of a second, no leap second; a blank for `T` and `+0800` are read too."""

    created_before: str | datetime | None
    """Created before this RFC 3339 time with an offset. Refused if it is not later than `created_from`. At most nine digits of a second, no leap second; a blank for `T` and `+0800` are read too."""


class CampaignPlanInput(TypedDict):
    request_id: NotRequired[str]
    """A new UUID for each plan, made before the first attempt. The same one with the same input tries again, and makes no second plan."""

    title: str
    """The name people recognise the plan by: one line, at least one visible character, no control characters."""

    goal: str
    """What the campaign should achieve."""

    campaign_type: CampaignType
    """blitz: clipping, paid per view. ugc: original content. package: influencers. affiliate: tracked promotion, paid per sale."""

    planned_for: str | date
    """The planned date, YYYY-MM-DD."""

    review_on: str | date
    """The review date, YYYY-MM-DD. Before planned_for, the result warns."""

    planning_budget: float
    """Pesos (not centavos), at most two decimals. Nothing is charged."""

    summary: NotRequired[str | None]
    """The idea in a few sentences."""

    brief: NotRequired[str | None]
    """Instructions for creators."""

    requirements: NotRequired[list[str] | None]
    """What the content must have, one entry each."""

    platforms: NotRequired[list[str] | None]
    """Where creators post the content, such as tiktok."""

    notes: NotRequired[str | None]
    """Notes for the brand's own people in the workspace. Private: never returned."""

    deadline: NotRequired[float]
    """Seconds for the call, with all repetitions and waits. Default: the client's."""


class CampaignPlan(TypedDict):
    plan_id: str
    """The plan's id, and the campaign's plan_id once there is one."""

    request_id: str
    """In lower case."""

    status: str
    """pending, or completed by a person. Cancelled plans are not returned."""

    campaign_type: str
    """One of blitz, ugc, package, affiliate."""

    title: str
    """As it is now: people may have edited the plan."""

    planned_for: str
    """YYYY-MM-DD."""

    review_on: str
    """YYYY-MM-DD."""

    planning_budget: float
    """Pesos."""

    review_path: str
    """Where people review and complete the plan, below the service's web address."""

    created_at: str
    """RFC 3339, UTC."""

    warnings: list[str]
    """What a person should know first, in sentences: planned_for is before today in Manila, review_on before planned_for. Often empty."""


class SubmissionApprovedEventData(TypedDict):
    """The record right after the change."""

    resource: Literal["submissions"]
    id: str
    """The submission's id."""

    campaign_id: str
    """The campaign it belongs to; of a campaign, its own id."""

    status: Literal["approved"]
    previous_status: str
    """The status before the change."""

    updated_at: str
    """The record's updated_at by this change. Of two states of a record, in events and lists, the one with the later updated_at is the later."""

    earned_centavos: int
    """What the creator has earned with it, in centavos"""

    currency: Currency
    """The currency of every *_centavos. Known values: PHP. A later version may add values."""

    rejection_code: str | None
    """Why it was rejected; null unless it was."""

    reviewed_at: str | None
    """When it was reviewed."""


class SubmissionApprovedEvent(TypedDict):
    """`submission.approved`. Fields may be added: ignore those you do not know."""

    id: str
    """The event's id: the same for every copy of the event."""

    type: Literal["submission.approved"]
    created_at: str
    """When it happened."""

    brand_id: str
    """Whose record it is."""

    test: bool
    """True for a test delivery: `data` is sample data, of records that do not exist."""

    dashboard_url: str
    """The event's page in the Developers area."""

    data: SubmissionApprovedEventData
    """The record right after the change."""


class SubmissionRejectedEventData(TypedDict):
    """The record right after the change."""

    resource: Literal["submissions"]
    id: str
    """The submission's id."""

    campaign_id: str
    """The campaign it belongs to; of a campaign, its own id."""

    status: Literal["rejected"]
    previous_status: str
    """The status before the change."""

    updated_at: str
    """The record's updated_at by this change. Of two states of a record, in events and lists, the one with the later updated_at is the later."""

    earned_centavos: int
    """What the creator has earned with it, in centavos"""

    currency: Currency
    """The currency of every *_centavos. Known values: PHP. A later version may add values."""

    rejection_code: str | None
    """Why it was rejected; null unless it was."""

    reviewed_at: str | None
    """When it was reviewed."""


class SubmissionRejectedEvent(TypedDict):
    """`submission.rejected`. Fields may be added: ignore those you do not know."""

    id: str
    """The event's id: the same for every copy of the event."""

    type: Literal["submission.rejected"]
    created_at: str
    """When it happened."""

    brand_id: str
    """Whose record it is."""

    test: bool
    """True for a test delivery: `data` is sample data, of records that do not exist."""

    dashboard_url: str
    """The event's page in the Developers area."""

    data: SubmissionRejectedEventData
    """The record right after the change."""


class PayoutPaidEventData(TypedDict):
    """The record right after the change."""

    resource: Literal["payouts"]
    id: str
    """The payout's id."""

    campaign_id: str
    """The campaign it belongs to; of a campaign, its own id."""

    status: Literal["paid"]
    previous_status: str
    """The status before the change."""

    updated_at: str
    """The record's updated_at by this change. Of two states of a record, in events and lists, the one with the later updated_at is the later."""

    amount_centavos: int
    """The amount paid out, in centavos"""

    fee_centavos: int
    """The fee for it, in centavos"""

    currency: Currency
    """The currency of every *_centavos. Known values: PHP. A later version may add values."""

    submission_count: int
    """Submissions it pays for."""

    conversion_count: int
    """Conversions it pays for."""

    paid_at: str | None
    """When it was paid."""


class PayoutPaidEvent(TypedDict):
    """`payout.paid`. Fields may be added: ignore those you do not know."""

    id: str
    """The event's id: the same for every copy of the event."""

    type: Literal["payout.paid"]
    created_at: str
    """When it happened."""

    brand_id: str
    """Whose record it is."""

    test: bool
    """True for a test delivery: `data` is sample data, of records that do not exist."""

    dashboard_url: str
    """The event's page in the Developers area."""

    data: PayoutPaidEventData
    """The record right after the change."""


class CampaignSettledEventData(TypedDict):
    """The record right after the change."""

    resource: Literal["campaigns"]
    id: str
    """The campaign's id."""

    campaign_id: str
    """The campaign it belongs to; of a campaign, its own id."""

    type: CampaignType
    """Known values: blitz, ugc, package, affiliate. A later version may add values."""

    status: Literal["settled"]
    previous_status: str
    """The status before the change."""

    updated_at: str
    """The record's updated_at by this change. Of two states of a record, in events and lists, the one with the later updated_at is the later."""

    budget_centavos: int
    """The campaign's budget, in centavos"""

    committed_centavos: int
    """The part of the budget that was committed, in centavos"""

    paid_centavos: int
    """The part of the budget that was paid, in centavos"""

    currency: Currency
    """The currency of every *_centavos. Known values: PHP. A later version may add values."""

    settled_at: str | None
    """When it was settled."""


class CampaignSettledEvent(TypedDict):
    """`campaign.settled`. Fields may be added: ignore those you do not know."""

    id: str
    """The event's id: the same for every copy of the event."""

    type: Literal["campaign.settled"]
    created_at: str
    """When it happened."""

    brand_id: str
    """Whose record it is."""

    test: bool
    """True for a test delivery: `data` is sample data, of records that do not exist."""

    dashboard_url: str
    """The event's page in the Developers area."""

    data: CampaignSettledEventData
    """The record right after the change."""


class ProblemDetail(TypedDict):
    field: str
    message: str


class UnknownEvent(TypedDict):
    """An event of a type that a later version of the service added."""

    type: str
    id: str
    """The event's id: the same for every copy of the event."""

    created_at: str
    """When it happened."""

    brand_id: str
    """Whose record it is."""

    test: bool
    """True for a test delivery: `data` is sample data, of records that do not exist."""

    dashboard_url: str
    """The event's page in the Developers area."""

    data: dict[str, Any]
    """The record right after the change."""


BrandEvent = Union[SubmissionApprovedEvent, SubmissionRejectedEvent, PayoutPaidEvent, CampaignSettledEvent]
"""An event of a type that this version knows."""

AnyEvent = Union[BrandEvent, UnknownEvent]

RECORD_TYPES: dict[ResourceName, type] = {
    "campaigns": Campaign,
    "submissions": Submission,
    "payouts": Payout,
    "deposits": Deposit,
    "conversions": Conversion,
    "links": Link,
}
