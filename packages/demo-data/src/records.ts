import { formatInstant, type RecordOf } from "@brand-records/resources";
import { type BrandHistory, DEPOSIT_STEP } from "./brand-history.ts";
import type { PlannedPayout } from "./payout-plan.ts";
import { PAYING, type PlannedCampaign, type PlannedDeposit, type PlannedLink, RETURN_WINDOW } from "./plans.ts";
import { idAt, Random, Shuffle } from "./random.ts";
import { DAY, HOUR, MINUTE, SECOND } from "./timeline.ts";
import { slug } from "./vocabulary.ts";

export function* campaignRecords(history: BrandHistory): Generator<RecordOf<"campaigns">> {
  const { campaigns, ledger, payouts, context } = history;
  const stream = context.stream("campaign update");
  for (const campaign of campaigns.all) {
    const { index } = campaign;
    const status = campaignStatus(campaign, payouts.isSettled(campaign));
    const random = new Random(stream, index);
    const settledAt = status === "settled" ? (campaign.settledOn ?? 0) + PAYING - random.below(DAY) : null;
    const updatedAt = settledAt ?? Math.min(context.now, lastChange(campaign) + random.below(6 * HOUR));
    yield {
      id: campaign.id,
      created_at: formatInstant(campaign.createdAt),
      updated_at: formatInstant(updatedAt),
      title: campaign.title,
      type: campaign.type,
      status,
      plan_id: campaign.planId,
      currency: "PHP",
      budget_centavos: ledger.campaignBudget[index] ?? 0,
      committed_centavos: ledger.campaignCommitted[index] ?? 0,
      paid_centavos: ledger.campaignPaid[index] ?? 0,
      rate_per_1000_views_centavos: campaign.rate,
      fee_per_deliverable_centavos: campaign.fee,
      commission_bps: campaign.commission,
      platforms: [...campaign.platforms],
      starts_at: campaign.startsAt === null ? null : formatInstant(campaign.startsAt),
      ends_at: campaign.endsAt === null ? null : formatInstant(campaign.endsAt),
      settled_at: settledAt === null ? null : formatInstant(settledAt),
    };
  }
}

function campaignStatus({ phase }: PlannedCampaign, settled: boolean): RecordOf<"campaigns">["status"] {
  if (phase === "over") return settled ? "settled" : "ended";
  return phase === "running" ? "active" : phase;
}

function lastChange({ phase, createdAt, runsUntil }: PlannedCampaign): number {
  return phase === "running" || phase === "paused" || phase === "over" ? runsUntil : createdAt;
}

const CODE_ALPHABET = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ";
const CODE_LENGTH = 6;

/** A link expires this long after its campaign's end. */
const EXPIRES_AFTER = 7 * DAY;

export function* linkRecords(history: BrandHistory): Generator<RecordOf<"links">> {
  const { context, links, ledger, creators } = history;
  const { shop, products } = context.catalog;
  const stream = context.stream("link record");
  const codes = new Shuffle(CODE_ALPHABET.length ** CODE_LENGTH, context.stream("link code"));
  for (const link of links.all) {
    const random = new Random(stream, link.index);
    const orders = ledger.linkOrders[link.index] ?? 0;
    const { endsAt } = link.campaign;
    const expiresAt = endsAt === null ? null : endsAt + EXPIRES_AFTER;
    const code = codeOf(codes.rankOf(link.index));
    yield {
      id: link.id,
      created_at: formatInstant(link.createdAt),
      updated_at: formatInstant(Math.max(link.disabled ? link.worksUntil : link.createdAt, ledger.linkLastAt[link.index] ?? 0)),
      campaign_id: link.campaign.id,
      creator_id: creators.ids[link.creator] ?? "",
      status: linkStatus(link, expiresAt, context.now),
      code,
      url: `https://go.${shop}/${code}`,
      destination_url: `https://${shop}/products/${slug(random.pick(products))}?ref=${code}`,
      // One click in 20 to 90 becomes an order; many links have clicks and no orders.
      clicks: Math.floor((orders + random.unit()) * random.between(20, 90)),
      conversions: ledger.linkConversions[link.index] ?? 0,
      expires_at: expiresAt === null ? null : formatInstant(expiresAt),
    };
  }
}

function linkStatus({ disabled, campaign }: PlannedLink, expiresAt: number | null, now: number): RecordOf<"links">["status"] {
  if (disabled) return "disabled";
  if (expiresAt !== null && expiresAt <= now) return "expired";
  return campaign.phase === "paused" ? "paused" : "active";
}

function codeOf(number: number): string {
  let code = "";
  for (let rest = number, i = 0; i < CODE_LENGTH; i += 1, rest = Math.floor(rest / CODE_ALPHABET.length)) {
    code += CODE_ALPHABET[rest % CODE_ALPHABET.length];
  }
  return code;
}

const FAILURES = ["account_invalid", "rail_unavailable", "compliance", "other"] as const;
const FAILURE_WEIGHTS = [55, 25, 12, 8];

/** PHP 15 a transfer, plus 1.5% from PHP 1,000. */
const feeOn = (amount: number): number => 1_500 + (amount < 100_000 ? 0 : Math.round(amount * 0.015));

export function* payoutRecords(history: BrandHistory): Generator<RecordOf<"payouts">> {
  const { context, payouts, ledger, creators } = history;
  const stream = context.stream("payout record");
  for (const [number, payout] of payouts.all.entries()) {
    const random = new Random(stream, number);
    const { initiatedAt, paidAt, updatedAt } = timesOf(payout, random);
    const amount = ledger.payoutAmount[number] ?? 0;
    yield {
      id: payout.id,
      created_at: formatInstant(payout.createdAt),
      updated_at: formatInstant(Math.min(updatedAt, context.now)),
      campaign_id: payout.campaign.id,
      creator_id: creators.ids[payout.creator] ?? "",
      status: payout.status,
      amount_centavos: amount,
      fee_centavos: feeOn(amount),
      currency: "PHP",
      submission_count: ledger.payoutSubmissions[number] ?? 0,
      conversion_count: ledger.payoutConversions[number] ?? 0,
      failure_code: payout.status === "failed" ? random.pickWeighted(FAILURES, FAILURE_WEIGHTS) : null,
      initiated_at: initiatedAt === null ? null : formatInstant(Math.min(initiatedAt, context.now)),
      paid_at: paidAt === null ? null : formatInstant(paidAt),
    };
  }
}

/** Only payouts older than three days are paid, and none takes longer, so no time is in the future. */
function timesOf({ status, createdAt }: PlannedPayout, random: Random) {
  const initiated = createdAt + random.between(MINUTE, HOUR);
  const settled = initiated + random.between(5 * MINUTE, 2 * DAY);
  if (status === "pending") return { initiatedAt: null, paidAt: null, updatedAt: createdAt };
  if (status === "cancelled") return { initiatedAt: null, paidAt: null, updatedAt: settled };
  if (status === "processing") return { initiatedAt: initiated, paidAt: null, updatedAt: initiated };
  if (status === "failed") return { initiatedAt: initiated, paidAt: null, updatedAt: settled };
  const updatedAt = status === "reversed" ? settled + random.between(HOUR, DAY) : settled;
  return { initiatedAt: initiated, paidAt: settled, updatedAt };
}

const METHODS = ["gcash", "maya", "qrph", "card", "bank_transfer"] as const;
const METHOD_WEIGHTS = [38, 17, 15, 8, 22];
/** The largest payment by wallet or card. */
const WALLET_CENTAVOS_MAX = 10_000_000;

export function* depositRecords(history: BrandHistory): Generator<RecordOf<"deposits">> {
  const { context, deposits } = history;
  const idStream = context.stream("deposit id");
  const stream = context.stream("deposit record");
  const done = new Int32Array(context.sizes.campaigns);
  for (let index = 0; index < context.sizes.deposits; index += 1) {
    const planned = deposits.plan(index);
    const { campaign, status, createdAt } = planned;
    const random = new Random(stream, index);
    const { amount, refunded } = amountsOf(planned, history, done, random);
    const method = amount > WALLET_CENTAVOS_MAX ? "bank_transfer" : random.pickWeighted(METHODS, METHOD_WEIGHTS);
    const arrived = status === "succeeded" || status === "refunded";
    const takes = method === "bank_transfer" ? random.between(HOUR, 20 * HOUR) : random.between(4 * SECOND, 120 * SECOND);
    const creditedAt = arrived ? Math.min(context.now, createdAt + takes) : null;
    const closedAt = Math.min(context.now, createdAt + (status === "pending" ? 0 : HOUR));
    yield {
      id: idAt("dep", createdAt, idStream, index),
      created_at: formatInstant(createdAt),
      updated_at: formatInstant(creditedAt ?? closedAt),
      campaign_id: campaign?.id ?? null,
      status,
      amount_centavos: amount,
      refunded_centavos: refunded,
      currency: "PHP",
      method,
      reference: arrived || random.chance(0.5) ? `${method.slice(0, 2).toUpperCase()}${String(random.bits()).padStart(10, "0")}` : null,
      credited_at: creditedAt === null ? null : formatInstant(creditedAt),
    };
  }
}

/** A campaign's succeeded deposits, less refunds, are its budget. `done` counts those made so far, by campaign. */
function amountsOf({ campaign, status }: PlannedDeposit, { ledger }: BrandHistory, done: Int32Array, random: Random) {
  const round = random.between(2, 40) * 250_000;
  if (status === "refunded") return { amount: round, refunded: round };
  if (campaign === null || status !== "succeeded") return { amount: round, refunded: 0 };
  const budget = ledger.campaignBudget[campaign.index] ?? 0;
  const parts = ledger.campaignDeposits[campaign.index] ?? 1;
  const part = (done[campaign.index] ?? 0) + 1;
  done[campaign.index] = part;
  const each = Math.floor(budget / parts / DEPOSIT_STEP) * DEPOSIT_STEP;
  const share = part === parts ? budget - each * (parts - 1) : each;
  const excess = random.chance(0.06) ? random.between(1, 20) * 50_000 : 0;
  return { amount: share + excess, refunded: excess };
}

const REJECTIONS = ["off_brief", "low_quality", "duplicate", "policy", "invalid_views", "other"] as const;
const REJECTION_WEIGHTS = [38, 27, 12, 9, 9, 5];

export function* submissionRecords(history: BrandHistory): Generator<RecordOf<"submissions">> {
  const { context, submissions, payouts, creators } = history;
  const idStream = context.stream("submission id");
  const stream = context.stream("submission record");
  for (let index = 0; index < context.sizes.submissions; index += 1) {
    const facts = submissions.facts(index);
    const { createdAt, status, reviewedAt } = facts;
    const { campaign, creator, payout } = payouts.placeSubmission(index, facts);
    const { platform, views, earned } = submissions.result(index, status, campaign);
    const paidBy = payouts.all[payout];
    const random = new Random(stream, index);
    const submittedAt = Math.max(campaign.runsFrom, createdAt - random.below(40 * SECOND));
    const withdrawnAt = Math.min(context.now, createdAt + random.between(HOUR, 2 * DAY));
    const updatedAt = paidBy?.createdAt ?? reviewedAt ?? (status === "withdrawn" ? withdrawnAt : createdAt);
    yield {
      id: idAt("sub", createdAt, idStream, index),
      created_at: formatInstant(createdAt),
      updated_at: formatInstant(updatedAt),
      campaign_id: campaign.id,
      creator_id: creators.ids[creator] ?? "",
      payout_id: paidBy?.id ?? null,
      status,
      platform,
      content_url: `https://${platform}.example/v/${random.bits()}${random.bits()}`,
      views,
      earned_centavos: earned,
      currency: "PHP",
      rejection_code: status === "rejected" ? random.pickWeighted(REJECTIONS, REJECTION_WEIGHTS) : null,
      submitted_at: formatInstant(submittedAt),
      reviewed_at: reviewedAt === null ? null : formatInstant(reviewedAt),
    };
  }
}

const REVERSALS = ["returned", "fraud", "duplicate", "order_error"] as const;
const REVERSAL_WEIGHTS = [68, 9, 11, 12];
/** Reversals before a parcel can have been returned. */
const EARLY_REVERSAL_WEIGHTS = [0, 20, 35, 45];
const PARCEL_ROUND_TRIP = 3 * DAY;

export function* conversionRecords(history: BrandHistory): Generator<RecordOf<"conversions">> {
  const { context, conversions, payouts, creators } = history;
  const idStream = context.stream("conversion id");
  const stream = context.stream("conversion record");
  for (let index = 0; index < context.sizes.conversions; index += 1) {
    const facts = conversions.facts(index);
    const { createdAt, status } = facts;
    const { link, payout } = payouts.placeConversion(index, facts);
    const { amount, commission, occurredAt } = conversions.order(index, facts, link);
    const paidBy = payouts.all[payout];
    const random = new Random(stream, index);
    const reversedAt = createdAt + random.below(Math.min(RETURN_WINDOW, context.now - createdAt));
    const decidedAt = status === "pending" ? createdAt : status === "approved" ? createdAt + RETURN_WINDOW : reversedAt;
    const reversalWeights = reversedAt - createdAt < PARCEL_ROUND_TRIP ? EARLY_REVERSAL_WEIGHTS : REVERSAL_WEIGHTS;
    yield {
      id: idAt("cnv", createdAt, idStream, index),
      created_at: formatInstant(createdAt),
      updated_at: formatInstant(paidBy?.createdAt ?? decidedAt),
      campaign_id: link.campaign.id,
      link_id: link.id,
      creator_id: creators.ids[link.creator] ?? "",
      payout_id: paidBy?.id ?? null,
      status,
      external_id: `${context.catalog.orderPrefix}-${String(1_000_000 + index)}`,
      order_amount_centavos: amount,
      commission_centavos: commission,
      currency: "PHP",
      occurred_at: formatInstant(occurredAt),
      reversal_code: status === "reversed" ? random.pickWeighted(REVERSALS, reversalWeights) : null,
    };
  }
}
