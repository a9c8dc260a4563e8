import type { RecordOf } from "@brand-records/resources";
import { checkSizes, type DemoResource } from "./demo-brands.ts";
import { addUp, planHistory } from "./history.ts";
import { type BrandOptions, contextOf } from "./plans.ts";
import { conversionRecords, depositRecords, submissionRecords } from "./records.ts";

/** The records of each resource. Every call starts over and yields the same records. */
export type GeneratedBrand = { readonly [Name in DemoResource]: () => Iterable<RecordOf<Name>> };

/**
 * Generates a brand's records of the year before `now`: valid, the same for the same options, and exactly as many as
 * `sizes` says. They are generated one at a time: memory grows with campaigns, links and payouts, not with submissions,
 * conversions and deposits.
 *
 * These add up, to the centavo:
 * - a payout's amount and counts, over the submissions and conversions that name it, which are all approved, of its campaign
 *   and creator, and older than it. Only if there are more payouts than items to pay for, the rest stand alone.
 * - a campaign's paid_centavos, over its payouts with status paid; its committed_centavos, over its approved submissions
 *   and conversions (and the payouts that stand alone), never above its budget
 * - a campaign's budget, over its succeeded deposits less refunds, if it has any; otherwise it came from the balance
 * - a link's conversions, over its conversions that are not reversed; its clicks are more
 * - a submission's earnings from rate and views, or fee; a conversion's commission from its order and the campaign's rate
 * - in a settled campaign every approved item has a payout, every payout is final, and nothing is pending
 *
 * Exactly one submission in ten is pending (rounded). Only planned starts, ends and expiries are later than `now`.
 *
 * @throws RangeError when the sizes leave records with nothing to belong to
 */
export function generateBrand(options: BrandOptions): GeneratedBrand {
  checkSizes(options.sizes);
  const context = contextOf(options);
  const history = once(() => planHistory(context));
  /** Submissions and conversions alone do not need the sums. */
  const totals = once(() => addUp(context, history()));
  return {
    campaigns: () => totals().campaigns.map(({ record }) => record),
    links: () => totals().links.map(({ record }) => record),
    payouts: () => totals().payouts.all.map(({ record }) => record),
    deposits: () => depositRecords(context, totals().campaigns),
    submissions: () => submissionRecords(context, history()),
    conversions: () => conversionRecords(context, history()),
  };
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}
