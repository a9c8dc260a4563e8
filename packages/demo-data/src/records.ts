import { formatInstant, type RecordOf } from "@brand-records/resources";
import { type Campaign, type Context, instantOrNull, RETURN_WINDOW } from "./plans.ts";
import type { Conversions, Submissions } from "./items.ts";
import type { PayoutPlan } from "./payouts.ts";
import { idAt, Random } from "./random.ts";
import { DAY, HISTORY, HOUR, MINUTE, SECOND } from "./timeline.ts";

/** Share of submissions whose views are counted. Those of an approved clip always are. */
const MEASURED_SHARES = { pending: 0.6, approved: 0.9, rejected: 0.8, withdrawn: 0.5 };
const PLATFORM_WEIGHTS: Readonly<Record<string, number>> = { tiktok: 55, instagram: 20, facebook: 17, youtube: 8 };
const REJECTIONS = ["off_brief", "low_quality", "duplicate", "policy", "invalid_views", "other"] as const;

export function* submissionRecords(
  context: Context,
  { submissions, payouts }: { submissions: Submissions; payouts: PayoutPlan },
): Generator<RecordOf<"submissions">> {
  const [ids, stream] = [context.stream("submission id"), context.stream("submission record")];
  for (let index = 0; index < context.sizes.submissions; index += 1) {
    const facts = submissions.facts(index);
    const { createdAt, status, reviewedAt } = facts;
    const { campaign, creator, payout } = payouts.placeSubmission(index, facts);
    const { platforms, rate_per_1000_views_centavos: rate, fee_per_deliverable_centavos: fee } = campaign.record;
    const random = new Random(stream, index);
    const platform = random.pickWeighted(
      platforms,
      platforms.map((name) => PLATFORM_WEIGHTS[name] ?? 0),
    );
    const views = Math.floor(random.pareto(1_500, 1.05, 4_000_000));
    const isMeasured = random.chance(MEASURED_SHARES[status]) || (status === "approved" && rate !== null);
    const earned = rate === null ? (fee ?? 0) : Math.floor((views * rate) / 1_000);
    const withdrawnAt = status === "withdrawn" ? Math.min(context.now, createdAt + random.between(HOUR, 2 * DAY)) : null;
    yield {
      id: idAt("sub", createdAt, ids, index),
      created_at: formatInstant(createdAt),
      updated_at: formatInstant(payout?.createdAt ?? reviewedAt ?? withdrawnAt ?? createdAt),
      campaign_id: campaign.record.id,
      creator_id: creator,
      payout_id: payout?.record.id ?? null,
      status,
      platform,
      content_url: `https://${platform}.example/v/${random.bits()}${random.bits()}`,
      views: isMeasured ? views : null,
      earned_centavos: status === "approved" ? earned : 0,
      currency: "PHP",
      rejection_code: status === "rejected" ? random.pickWeighted(REJECTIONS, [38, 27, 12, 9, 9, 5]) : null,
      submitted_at: formatInstant(Math.max(campaign.runsFrom, createdAt - random.below(40 * SECOND))),
      reviewed_at: instantOrNull(reviewedAt),
    };
  }
}

const REVERSALS = ["returned", "fraud", "duplicate", "order_error"] as const;
/** Before then no parcel can have been returned. */
const PARCEL_ROUND_TRIP = 3 * DAY;
/** The shop reports an order within this long. */
const REPORTING_DELAY = 20 * MINUTE;

export function* conversionRecords(
  context: Context,
  { conversions, payouts }: { conversions: Conversions; payouts: PayoutPlan },
): Generator<RecordOf<"conversions">> {
  const [ids, stream] = [context.stream("conversion id"), context.stream("conversion record")];
  const { orderPrefix, medianOrderCentavos } = context.catalog;
  for (let index = 0; index < context.sizes.conversions; index += 1) {
    const facts = conversions.facts(index);
    const { createdAt, status } = facts;
    const { link, payout } = payouts.placeConversion(index, facts);
    const random = new Random(stream, index);
    const amount = Math.max(5_000, Math.round(random.logNormal(medianOrderCentavos, 0.8) / 100) * 100);
    const commission = Math.floor((amount * (link.campaign.record.commission_bps ?? 0)) / 10_000);
    const reversedAfter = random.below(Math.min(RETURN_WINDOW, context.now - createdAt));
    const reversalWeights = reversedAfter < PARCEL_ROUND_TRIP ? [0, 20, 35, 45] : [68, 9, 11, 12];
    const decidedAt = createdAt + { pending: 0, approved: RETURN_WINDOW, reversed: reversedAfter }[status];
    yield {
      id: idAt("cnv", createdAt, ids, index),
      created_at: formatInstant(createdAt),
      updated_at: formatInstant(payout?.createdAt ?? decidedAt),
      campaign_id: link.campaign.record.id,
      link_id: link.record.id,
      creator_id: link.record.creator_id,
      payout_id: payout?.record.id ?? null,
      status,
      external_id: `${orderPrefix}-${1_000_000 + index}`,
      order_amount_centavos: amount,
      commission_centavos: commission,
      currency: "PHP",
      occurred_at: formatInstant(Math.max(link.createdAt, createdAt - random.below(REPORTING_DELAY))),
      reversal_code: status === "reversed" ? random.pickWeighted(REVERSALS, reversalWeights) : null,
    };
  }
}

const DEPOSIT_STATUSES = ["pending", "succeeded", "failed", "expired", "refunded"] as const;
/** Share of later deposits that are paid to the brand's balance, for no campaign. */
const BALANCE_SHARE = 0.12;

interface Deposit {
  readonly campaign: Campaign | null;
  readonly status: RecordOf<"deposits">["status"];
  readonly createdAt: number;
}

export const isFunded = ({ record }: Campaign): boolean => record.status !== "draft";

/** Deposits by index, spread over the funded campaigns in rotation. The first of a campaign arrives before it starts. */
export function depositAt(index: number, context: Context, funded: readonly Campaign[]): Deposit {
  const random = new Random(context.stream("deposit"), index);
  const isFirst = index < funded.length;
  const toBalance = !isFirst && random.chance(BALANCE_SHARE);
  const campaign = toBalance ? null : (funded[index % funded.length] ?? null);
  const [from, until] = depositTimes(campaign, isFirst, context.now);
  const createdAt = Math.floor(from + Math.max(0, until - from) * random.unit());
  const stillOpen = createdAt > context.now - 2 * DAY;
  const drawn = random.pickWeighted(DEPOSIT_STATUSES, [stillOpen ? 30 : 0, 86, 6, 5, 3]);
  const unfunded = stillOpen ? "pending" : random.pick(["failed", "expired"] as const);
  if (campaign?.record.status === "cancelled") return { campaign, createdAt, status: "refunded" };
  if (campaign?.record.status === "pending_funding") return { campaign, createdAt, status: unfunded };
  return { campaign, createdAt, status: isFirst ? "succeeded" : drawn };
}

function depositTimes(campaign: Campaign | null, isFirst: boolean, now: number): readonly [from: number, until: number] {
  if (campaign === null) return [now - HISTORY, now];
  const { record, runsFrom, runsUntil } = campaign;
  if (!isFirst && runsFrom < runsUntil) return [runsFrom, runsUntil];
  return [Date.parse(record.created_at) + HOUR, Math.min(Date.parse(record.starts_at ?? formatInstant(now)), now)];
}

/** The smallest deposit for a campaign, in centavos. */
export const DEPOSIT_STEP = 100_000;
const METHODS = ["gcash", "maya", "qrph", "card", "bank_transfer"] as const;
/** The largest payment by wallet or card. */
const WALLET_CENTAVOS_MAX = 10_000_000;

export function* depositRecords(context: Context, campaigns: readonly Campaign[]): Generator<RecordOf<"deposits">> {
  const [ids, stream] = [context.stream("deposit id"), context.stream("deposit record")];
  const funded = campaigns.filter(isFunded);
  /** What succeeded deposits have paid in, less refunds. */
  const paidIn = new Map<Campaign, number>();
  for (let index = 0; index < context.sizes.deposits; index += 1) {
    const { campaign, status, createdAt } = depositAt(index, context, funded);
    const random = new Random(stream, index);
    const round = random.between(2, 40) * 250_000;
    const excess = random.chance(0.06) ? random.between(1, 20) * 50_000 : 0;
    const share = campaign !== null && status === "succeeded" ? nextShare(campaign, paidIn) : undefined;
    const amount = share === undefined ? round : share + excess;
    const arrived = status === "succeeded" || status === "refunded";
    const method = amount > WALLET_CENTAVOS_MAX ? "bank_transfer" : random.pickWeighted(METHODS, [38, 17, 15, 8, 22]);
    const takes = method === "bank_transfer" ? random.between(HOUR, 20 * HOUR) : random.between(4 * SECOND, 120 * SECOND);
    const changedAt = Math.min(context.now, createdAt + (arrived ? takes : status === "pending" ? 0 : HOUR));
    yield {
      id: idAt("dep", createdAt, ids, index),
      created_at: formatInstant(createdAt),
      updated_at: formatInstant(changedAt),
      campaign_id: campaign?.record.id ?? null,
      status,
      amount_centavos: amount,
      refunded_centavos: status === "refunded" ? amount : share === undefined ? 0 : excess,
      currency: "PHP",
      method,
      reference: arrived || random.chance(0.5) ? `${method.slice(0, 2).toUpperCase()}${String(random.bits()).padStart(10, "0")}` : null,
      credited_at: instantOrNull(arrived ? changedAt : null),
    };
  }
}

/** Splits a campaign's budget evenly among its succeeded deposits; the last pays the rest. */
function nextShare(campaign: Campaign, paidIn: Map<Campaign, number>): number {
  const { budget_centavos: budget } = campaign.record;
  const before = paidIn.get(campaign) ?? 0;
  const each = Math.floor(budget / campaign.deposits / DEPOSIT_STEP) * DEPOSIT_STEP;
  const isLast = before === each * (campaign.deposits - 1);
  const share = isLast ? budget - before : each;
  paidIn.set(campaign, before + share);
  return share;
}
