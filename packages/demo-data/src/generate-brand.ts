import type { RecordOf, ResourceName } from "@brand-records/resources";
import { contextOf, type BrandOptions } from "./plan/context.ts";
import { campaignRecords } from "./records/campaigns.ts";
import { conversionRecords } from "./records/conversions.ts";
import { depositRecords } from "./records/deposits.ts";
import { linkRecords } from "./records/links.ts";
import { payoutRecords } from "./records/payouts.ts";
import { submissionRecords } from "./records/submissions.ts";
import { checkSizes } from "./sizes.ts";
import { World } from "./world.ts";

/** Every call starts over and yields the same records. */
export type GeneratedBrand = { readonly [Name in ResourceName]: () => Iterable<RecordOf<Name>> };

/**
 * A brand's records of the year before `now`, valid by construction and the same for the same options, in exactly the
 * sizes asked for. Generated one at a time: memory grows with campaigns, links and payouts, not with submissions,
 * conversions and deposits.
 *
 * These add up, to the centavo:
 * - a payout's amount and counts, over the submissions and conversions that name it, all of them approved, of its campaign and
 *   creator, and older than it; unless more payouts are asked for than there are items to pay for: those beyond stand alone
 * - a campaign's paid_centavos, over its payouts with status paid; its committed_centavos, over its approved submissions
 *   and conversions (and the payouts that stand alone), never above its budget
 * - a campaign's budget, over its succeeded deposits less refunds, if it has any; otherwise it came from the balance
 * - a link's conversions, over its conversions that are not reversed; its clicks are more
 * - a submission's earnings from rate and views, or fee; a conversion's commission from its order and the campaign's rate
 * - in a settled campaign every approved item has a payout, every payout is final, and nothing is pending
 *
 * Exactly one submission in ten is pending (rounded). Nothing is dated after `now`, but for planned starts, ends and expiries.
 *
 * @throws RangeError when the sizes leave records with nothing to belong to
 */
export function generateBrand(options: BrandOptions): GeneratedBrand {
  checkSizes(options.sizes);
  let world: World | undefined;
  const once = (): World => (world ??= new World(contextOf(options)));
  return {
    campaigns: () => campaignRecords(once()),
    submissions: () => submissionRecords(once()),
    payouts: () => payoutRecords(once()),
    deposits: () => depositRecords(once()),
    conversions: () => conversionRecords(once()),
    links: () => linkRecords(once()),
  };
}
