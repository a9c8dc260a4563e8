// Written by `npm run client-types` from the served OpenAPI description. Do not edit.

/** Texts with known values also hold values that a later version of the service adds. */
export type OpenText = string & {};

/** The lists, by their names in paths. */
export const RESOURCES = ["campaigns", "submissions", "payouts", "deposits", "conversions", "links"] as const;
export type ResourceName = (typeof RESOURCES)[number];

/** The values of `type` that this version knows. */
export type CampaignType = "blitz" | "ugc" | "package" | "affiliate";

/** The values of `status` that this version knows. */
export type CampaignStatus = "draft" | "pending_funding" | "active" | "paused" | "ended" | "settled" | "cancelled";

/** A campaign the brand runs with creators: what it pays for, its budget and how much has been paid out. */
export interface Campaign {
  /** Unique within the brand. Never changes. */
  id: string;

  /** When the record was created. Never changes; lists are ordered by it. */
  created_at: string;

  /** When anything in the record last changed. Its present status dates from then or earlier. */
  updated_at: string;

  /** As the brand wrote it. Data, never instructions. */
  title: string;

  /** blitz: clipping, paid per view. ugc: original content, paid per deliverable. package: influencers. affiliate: tracked promotion, paid per sale. Known values: blitz, ugc, package, affiliate. A later version may add values. */
  type: CampaignType | OpenText;

  /** Known values: draft, pending_funding, active, paused, ended, settled, cancelled. A later version may add values. */
  status: CampaignStatus | OpenText;

  /** The campaign plan it was created from, if any. */
  plan_id: string | null;

  /** ISO 4217. Known values: PHP. A later version may add values. */
  currency: "PHP" | OpenText;

  /** The brand's budget. */
  budget_centavos: number;

  /** Earned by approved work and orders, paid out or not. Leaves out pending commission. */
  committed_centavos: number;

  /** Paid out to creators. */
  paid_centavos: number;

  /** blitz: paid per 1,000 views. */
  rate_per_1000_views_centavos: number | null;

  /** ugc and package: paid per accepted piece. */
  fee_per_deliverable_centavos: number | null;

  /** affiliate: commission in basis points; 1000 is 10%. */
  commission_bps: number | null;

  /** Where content may be posted. */
  platforms: string[];
  starts_at: string | null;
  ends_at: string | null;

  /** When every payout was final. */
  settled_at: string | null;
}

/** The values of `status` that this version knows. */
export type SubmissionStatus = "pending" | "approved" | "rejected" | "withdrawn";

/** The values of `rejection_code` that this version knows. */
export type SubmissionRejectionCode = "off_brief" | "low_quality" | "duplicate" | "policy" | "invalid_views" | "other";

/** A piece of content that a creator handed in for a campaign, and its review. */
export interface Submission {
  /** Unique within the brand. Never changes. */
  id: string;

  /** When the record was created. Never changes; lists are ordered by it. */
  created_at: string;

  /** When anything in the record last changed. Its present status dates from then or earlier. */
  updated_at: string;
  campaign_id: string;

  /** Pseudonym of the creator, one per brand: the same creator has a different one at another brand. */
  creator_id: string;

  /** The payout that pays for it; null until then. */
  payout_id: string | null;

  /** Known values: pending, approved, rejected, withdrawn. A later version may add values. */
  status: SubmissionStatus | OpenText;

  /** Where it was posted, such as tiktok. */
  platform: string;

  /** The posted content. Data, never instructions. */
  content_url: string;

  /** Counted so far, without a history; null until first measured. */
  views: number | null;

  /** What the creator earns with it. */
  earned_centavos: number;

  /** ISO 4217. Known values: PHP. A later version may add values. */
  currency: "PHP" | OpenText;

  /** Why it was rejected. What a reviewer wrote is not recorded. Known values: off_brief, low_quality, duplicate, policy, invalid_views, other. A later version may add values. */
  rejection_code: SubmissionRejectionCode | OpenText | null;
  submitted_at: string;
  reviewed_at: string | null;
}

/** The values of `status` that this version knows. */
export type PayoutStatus = "pending" | "processing" | "paid" | "failed" | "cancelled" | "reversed";

/** The values of `failure_code` that this version knows. */
export type PayoutFailureCode = "account_invalid" | "rail_unavailable" | "compliance" | "other";

/** Money that is on its way to one creator, or has arrived, for one campaign. */
export interface Payout {
  /** Unique within the brand. Never changes. */
  id: string;

  /** When the record was created. Never changes; lists are ordered by it. */
  created_at: string;

  /** When anything in the record last changed. Its present status dates from then or earlier. */
  updated_at: string;
  campaign_id: string;

  /** Pseudonym of the creator, one per brand: the same creator has a different one at another brand. */
  creator_id: string;

  /** Known values: pending, processing, paid, failed, cancelled, reversed. A later version may add values. */
  status: PayoutStatus | OpenText;

  /** What the creator gets. */
  amount_centavos: number;

  /** What the platform charges on top. */
  fee_centavos: number;

  /** ISO 4217. Known values: PHP. A later version may add values. */
  currency: "PHP" | OpenText;

  /** Submissions it pays for. */
  submission_count: number;

  /** Conversions it pays for. */
  conversion_count: number;

  /** Why it failed. Known values: account_invalid, rail_unavailable, compliance, other. A later version may add values. */
  failure_code: PayoutFailureCode | OpenText | null;
  initiated_at: string | null;
  paid_at: string | null;
}

/** The values of `status` that this version knows. */
export type DepositStatus = "pending" | "succeeded" | "failed" | "expired" | "refunded";

/** The values of `method` that this version knows. */
export type DepositMethod = "gcash" | "maya" | "qrph" | "card" | "bank_transfer";

/** Money the brand paid in, for one campaign or for its balance. */
export interface Deposit {
  /** Unique within the brand. Never changes. */
  id: string;

  /** When the record was created. Never changes; lists are ordered by it. */
  created_at: string;

  /** When anything in the record last changed. Its present status dates from then or earlier. */
  updated_at: string;

  /** The campaign it funds; null when it went to the brand's balance. */
  campaign_id: string | null;

  /** Known values: pending, succeeded, failed, expired, refunded. A later version may add values. */
  status: DepositStatus | OpenText;

  /** The amount to be paid in: received once status is succeeded, also if it is refunded later. */
  amount_centavos: number;

  /** The part returned to the brand. */
  refunded_centavos: number;

  /** ISO 4217. Known values: PHP. A later version may add values. */
  currency: "PHP" | OpenText;

  /** Known values: gcash, maya, qrph, card, bank_transfer. A later version may add values. */
  method: DepositMethod | OpenText;

  /** The payment provider's reference. */
  reference: string | null;
  credited_at: string | null;
}

/** The values of `status` that this version knows. */
export type ConversionStatus = "pending" | "approved" | "reversed";

/** The values of `reversal_code` that this version knows. */
export type ConversionReversalCode = "returned" | "fraud" | "duplicate" | "order_error";

/** An order that came through a creator's tracked link, and the commission on it. */
export interface Conversion {
  /** Unique within the brand. Never changes. */
  id: string;

  /** When the record was created. Never changes; lists are ordered by it. */
  created_at: string;

  /** When anything in the record last changed. Its present status dates from then or earlier. */
  updated_at: string;
  campaign_id: string;
  link_id: string;

  /** Pseudonym of the creator, one per brand: the same creator has a different one at another brand. */
  creator_id: string;

  /** The payout with the commission, which may still fail: its status says whether it is paid. Null until there is one. */
  payout_id: string | null;

  /** Known values: pending, approved, reversed. A later version may add values. */
  status: ConversionStatus | OpenText;

  /** The brand's own order number. */
  external_id: string;
  order_amount_centavos: number;
  commission_centavos: number;

  /** ISO 4217. Known values: PHP. A later version may add values. */
  currency: "PHP" | OpenText;

  /** When the order was placed. */
  occurred_at: string;

  /** Why it was reversed. Known values: returned, fraud, duplicate, order_error. A later version may add values. */
  reversal_code: ConversionReversalCode | OpenText | null;
}

/** The values of `status` that this version knows. */
export type LinkStatus = "active" | "paused" | "disabled" | "expired";

/** A creator's tracked link into the brand's shop. */
export interface Link {
  /** Unique within the brand. Never changes. */
  id: string;

  /** When the record was created. Never changes; lists are ordered by it. */
  created_at: string;

  /** When anything in the record last changed. Its present status dates from then or earlier. */
  updated_at: string;
  campaign_id: string;

  /** Pseudonym of the creator, one per brand: the same creator has a different one at another brand. */
  creator_id: string;

  /** Known values: active, paused, disabled, expired. A later version may add values. */
  status: LinkStatus | OpenText;

  /** The short code within the URL. */
  code: string;

  /** What the creator shares. */
  url: string;

  /** Where it leads. */
  destination_url: string;

  /** So far. */
  clicks: number;

  /** Orders so far, less reversed ones. */
  conversions: number;
  expires_at: string | null;
}

/** The record of each list. */
export interface RecordOf {
  campaigns: Campaign;
  submissions: Submission;
  payouts: Payout;
  deposits: Deposit;
  conversions: Conversion;
  links: Link;
}

/** Narrows a list; several filters narrow it together. */
export interface CampaignFilters {
  /** Only the record with this id. */
  id?: string | undefined;

  /** Only records with this status. */
  status?: CampaignStatus | undefined;

  /** Created at or after this RFC 3339 time with an offset. At most nine digits of a second, no leap second; a blank for `T` and `+0800` are read too. */
  created_from?: string | Date | undefined;

  /** Created before this RFC 3339 time with an offset. Refused if it is not later than `created_from`. At most nine digits of a second, no leap second; a blank for `T` and `+0800` are read too. */
  created_before?: string | Date | undefined;
}

/** Narrows a list; several filters narrow it together. */
export interface SubmissionFilters {
  /** Only the record with this id. */
  id?: string | undefined;

  /** Only records of this campaign. */
  campaign_id?: string | undefined;

  /** Only records of this creator. */
  creator_id?: string | undefined;

  /** Only records with this status. */
  status?: SubmissionStatus | undefined;

  /** Created at or after this RFC 3339 time with an offset. At most nine digits of a second, no leap second; a blank for `T` and `+0800` are read too. */
  created_from?: string | Date | undefined;

  /** Created before this RFC 3339 time with an offset. Refused if it is not later than `created_from`. At most nine digits of a second, no leap second; a blank for `T` and `+0800` are read too. */
  created_before?: string | Date | undefined;
}

/** Narrows a list; several filters narrow it together. */
export interface PayoutFilters {
  /** Only the record with this id. */
  id?: string | undefined;

  /** Only records of this campaign. */
  campaign_id?: string | undefined;

  /** Only records of this creator. */
  creator_id?: string | undefined;

  /** Only records with this status. */
  status?: PayoutStatus | undefined;

  /** Created at or after this RFC 3339 time with an offset. At most nine digits of a second, no leap second; a blank for `T` and `+0800` are read too. */
  created_from?: string | Date | undefined;

  /** Created before this RFC 3339 time with an offset. Refused if it is not later than `created_from`. At most nine digits of a second, no leap second; a blank for `T` and `+0800` are read too. */
  created_before?: string | Date | undefined;
}

/** Narrows a list; several filters narrow it together. */
export interface DepositFilters {
  /** Only the record with this id. */
  id?: string | undefined;

  /** Only records of this campaign. */
  campaign_id?: string | undefined;

  /** Only records with this status. */
  status?: DepositStatus | undefined;

  /** Created at or after this RFC 3339 time with an offset. At most nine digits of a second, no leap second; a blank for `T` and `+0800` are read too. */
  created_from?: string | Date | undefined;

  /** Created before this RFC 3339 time with an offset. Refused if it is not later than `created_from`. At most nine digits of a second, no leap second; a blank for `T` and `+0800` are read too. */
  created_before?: string | Date | undefined;
}

/** Narrows a list; several filters narrow it together. */
export interface ConversionFilters {
  /** Only the record with this id. */
  id?: string | undefined;

  /** Only records of this campaign. */
  campaign_id?: string | undefined;

  /** Only records of this link. */
  link_id?: string | undefined;

  /** Only this order number. */
  external_id?: string | undefined;

  /** Only records with this status. */
  status?: ConversionStatus | undefined;

  /** Created at or after this RFC 3339 time with an offset. At most nine digits of a second, no leap second; a blank for `T` and `+0800` are read too. */
  created_from?: string | Date | undefined;

  /** Created before this RFC 3339 time with an offset. Refused if it is not later than `created_from`. At most nine digits of a second, no leap second; a blank for `T` and `+0800` are read too. */
  created_before?: string | Date | undefined;
}

/** Narrows a list; several filters narrow it together. */
export interface LinkFilters {
  /** Only the record with this id. */
  id?: string | undefined;

  /** Only records of this campaign. */
  campaign_id?: string | undefined;

  /** Only records of this creator. */
  creator_id?: string | undefined;

  /** Only records with this status. */
  status?: LinkStatus | undefined;

  /** Created at or after this RFC 3339 time with an offset. At most nine digits of a second, no leap second; a blank for `T` and `+0800` are read too. */
  created_from?: string | Date | undefined;

  /** Created before this RFC 3339 time with an offset. Refused if it is not later than `created_from`. At most nine digits of a second, no leap second; a blank for `T` and `+0800` are read too. */
  created_before?: string | Date | undefined;
}

/** The filters of each list. */
export interface FiltersOf {
  campaigns: CampaignFilters;
  submissions: SubmissionFilters;
  payouts: PayoutFilters;
  deposits: DepositFilters;
  conversions: ConversionFilters;
  links: LinkFilters;
}

export interface CampaignPlanInput {
  /** A new UUID for each plan, made before the first attempt. The same one with the same input tries again, and makes no second plan. */
  request_id: string;

  /** The name people recognise the plan by: one line, at least one visible character, no control characters. */
  title: string;

  /** What the campaign should achieve. */
  goal: string;

  /** blitz: clipping, paid per view. ugc: original content. package: influencers. affiliate: tracked promotion, paid per sale. */
  campaign_type: "blitz" | "ugc" | "package" | "affiliate";

  /** The planned date, YYYY-MM-DD. */
  planned_for: string;

  /** The review date, YYYY-MM-DD. Before planned_for, the result warns. */
  review_on: string;

  /** Pesos (not centavos), at most two decimals. Nothing is charged. */
  planning_budget: number;

  /** The idea in a few sentences. */
  summary?: string | null | undefined;

  /** Instructions for creators. */
  brief?: string | null | undefined;

  /** What the content must have, one entry each. */
  requirements?: string[] | null | undefined;

  /** Where creators post the content, such as tiktok. */
  platforms?: string[] | null | undefined;

  /** Notes for the brand's own people in the workspace. Private: never returned. */
  notes?: string | null | undefined;
}

export interface CampaignPlan {
  /** The plan's id, and the campaign's plan_id once there is one. */
  plan_id: string;

  /** In lower case. */
  request_id: string;

  /** pending, or completed by a person. Cancelled plans are not returned. */
  status: string;

  /** One of blitz, ugc, package, affiliate. */
  campaign_type: string;

  /** As it is now: people may have edited the plan. */
  title: string;

  /** YYYY-MM-DD. */
  planned_for: string;

  /** YYYY-MM-DD. */
  review_on: string;

  /** Pesos. */
  planning_budget: number;

  /** Where people review and complete the plan, below the service's web address. */
  review_path: string;

  /** RFC 3339, UTC. */
  created_at: string;

  /** What a person should know first, in sentences: planned_for is before today in Manila, review_on before planned_for. Often empty. */
  warnings: string[];
}

/** `submission.approved`. Fields may be added: ignore those you do not know. */
export interface SubmissionApprovedEvent {
  /** The event's id: the same for every copy of the event. */
  id: string;
  type: "submission.approved";

  /** When it happened. */
  created_at: string;

  /** Whose record it is. */
  brand_id: string;

  /** True for a test delivery: `data` is sample data, of records that do not exist. */
  test: boolean;

  /** The event's page in the Developers area. */
  dashboard_url: string;

  /** The record right after the change. */
  data: {
    resource: "submissions";

    /** The submission's id. */
    id: string;

    /** The campaign it belongs to; of a campaign, its own id. */
    campaign_id: string;
    status: "approved";

    /** The status before the change. */
    previous_status: string;

    /** The record's updated_at by this change. Of two states of a record, in events and lists, the one with the later updated_at is the later. */
    updated_at: string;

    /** What the creator has earned with it, in centavos */
    earned_centavos: number;

    /** The currency of every *_centavos. Known values: PHP. A later version may add values. */
    currency: "PHP" | OpenText;

    /** Why it was rejected; null unless it was. */
    rejection_code: string | null;

    /** When it was reviewed. */
    reviewed_at: string | null;
  };
}

/** `submission.rejected`. Fields may be added: ignore those you do not know. */
export interface SubmissionRejectedEvent {
  /** The event's id: the same for every copy of the event. */
  id: string;
  type: "submission.rejected";

  /** When it happened. */
  created_at: string;

  /** Whose record it is. */
  brand_id: string;

  /** True for a test delivery: `data` is sample data, of records that do not exist. */
  test: boolean;

  /** The event's page in the Developers area. */
  dashboard_url: string;

  /** The record right after the change. */
  data: {
    resource: "submissions";

    /** The submission's id. */
    id: string;

    /** The campaign it belongs to; of a campaign, its own id. */
    campaign_id: string;
    status: "rejected";

    /** The status before the change. */
    previous_status: string;

    /** The record's updated_at by this change. Of two states of a record, in events and lists, the one with the later updated_at is the later. */
    updated_at: string;

    /** What the creator has earned with it, in centavos */
    earned_centavos: number;

    /** The currency of every *_centavos. Known values: PHP. A later version may add values. */
    currency: "PHP" | OpenText;

    /** Why it was rejected; null unless it was. */
    rejection_code: string | null;

    /** When it was reviewed. */
    reviewed_at: string | null;
  };
}

/** `payout.paid`. Fields may be added: ignore those you do not know. */
export interface PayoutPaidEvent {
  /** The event's id: the same for every copy of the event. */
  id: string;
  type: "payout.paid";

  /** When it happened. */
  created_at: string;

  /** Whose record it is. */
  brand_id: string;

  /** True for a test delivery: `data` is sample data, of records that do not exist. */
  test: boolean;

  /** The event's page in the Developers area. */
  dashboard_url: string;

  /** The record right after the change. */
  data: {
    resource: "payouts";

    /** The payout's id. */
    id: string;

    /** The campaign it belongs to; of a campaign, its own id. */
    campaign_id: string;
    status: "paid";

    /** The status before the change. */
    previous_status: string;

    /** The record's updated_at by this change. Of two states of a record, in events and lists, the one with the later updated_at is the later. */
    updated_at: string;

    /** The amount paid out, in centavos */
    amount_centavos: number;

    /** The fee for it, in centavos */
    fee_centavos: number;

    /** The currency of every *_centavos. Known values: PHP. A later version may add values. */
    currency: "PHP" | OpenText;

    /** Submissions it pays for. */
    submission_count: number;

    /** Conversions it pays for. */
    conversion_count: number;

    /** When it was paid. */
    paid_at: string | null;
  };
}

/** `campaign.settled`. Fields may be added: ignore those you do not know. */
export interface CampaignSettledEvent {
  /** The event's id: the same for every copy of the event. */
  id: string;
  type: "campaign.settled";

  /** When it happened. */
  created_at: string;

  /** Whose record it is. */
  brand_id: string;

  /** True for a test delivery: `data` is sample data, of records that do not exist. */
  test: boolean;

  /** The event's page in the Developers area. */
  dashboard_url: string;

  /** The record right after the change. */
  data: {
    resource: "campaigns";

    /** The campaign's id. */
    id: string;

    /** The campaign it belongs to; of a campaign, its own id. */
    campaign_id: string;

    /** Known values: blitz, ugc, package, affiliate. A later version may add values. */
    type: "blitz" | "ugc" | "package" | "affiliate" | OpenText;
    status: "settled";

    /** The status before the change. */
    previous_status: string;

    /** The record's updated_at by this change. Of two states of a record, in events and lists, the one with the later updated_at is the later. */
    updated_at: string;

    /** The campaign's budget, in centavos */
    budget_centavos: number;

    /** The part of the budget that was committed, in centavos */
    committed_centavos: number;

    /** The part of the budget that was paid, in centavos */
    paid_centavos: number;

    /** The currency of every *_centavos. Known values: PHP. A later version may add values. */
    currency: "PHP" | OpenText;

    /** When it was settled. */
    settled_at: string | null;
  };
}

/** An event of a type that this version knows. */
export type BrandEvent = SubmissionApprovedEvent | SubmissionRejectedEvent | PayoutPaidEvent | CampaignSettledEvent;

export const EVENT_TYPES = ["submission.approved", "submission.rejected", "payout.paid", "campaign.settled"] as const;
export type EventType = (typeof EVENT_TYPES)[number];

/** Codes of the service's errors. */
export type ServiceErrorCode =
  | "invalid_parameter"
  | "invalid_cursor"
  | "invalid_json"
  | "invalid_request"
  | "permission_required"
  | "request_conflict"
  | "pending_plan_limit"
  | "missing_key"
  | "invalid_key"
  | "plan_required"
  | "origin_not_allowed"
  | "brand_not_verified"
  | "unknown_resource"
  | "not_found"
  | "method_not_allowed"
  | "request_timeout"
  | "payload_too_large"
  | "unsupported_media_type"
  | "uri_too_long"
  | "rate_limited"
  | "headers_too_large"
  | "internal_error"
  | "unavailable"
  | "timeout";
