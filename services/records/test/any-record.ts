import type { ResourceName } from "@brand-records/resources";
import fc, { type Arbitrary } from "fast-check";

/** What COPY, array literals and JSON give a meaning to, beside text of every script. */
const MEANINGFUL = [
  "\t",
  "\n",
  "\r",
  "\\",
  "\\N",
  "\\.",
  '"',
  "'",
  "{",
  "}",
  ",",
  "NULL",
  "\b",
  "\v",
  "\f",
  "\u0001",
  "\u007f",
  "\u2028",
  " ",
];

const text = (max: number): Arbitrary<string> =>
  fc
    .oneof(
      fc.string({ unit: fc.constantFrom(...MEANINGFUL, "a", "é", "ぁ", "🙂"), minLength: 1, maxLength: 12 }),
      fc.string({ unit: "binary", minLength: 1, maxLength: 30 }),
    )
    .filter((value) => value.length <= max && !value.includes("\0"));

const id = (prefix: string): Arbitrary<string> => fc.stringMatching(/^[0-9a-z]{1,40}$/).map((rest) => `${prefix}_${rest}`);
const time = (): Arbitrary<string> =>
  fc
    .date({ min: new Date("2000-01-01T00:00:00.000Z"), max: new Date("9999-12-31T23:59:59.999Z"), noInvalidDate: true })
    .map((date) => date.toISOString());
const count = (): Arbitrary<number> => fc.oneof(fc.maxSafeNat(), fc.constantFrom(0, 1, Number.MAX_SAFE_INTEGER));
const items = (): Arbitrary<number> => fc.integer({ min: 0, max: 2_147_483_647 });
const maybe = <T>(arbitrary: Arbitrary<T>): Arbitrary<T | null> => fc.option(arbitrary, { nil: null });
const word = (...words: string[]): Arbitrary<string> => fc.constantFrom(...words);
const url = (): Arbitrary<string> => fc.webUrl({ withQueryParameters: true, withFragments: true, validSchemes: ["http", "https"] });

const common = (prefix: string) => ({ id: id(prefix), created_at: time(), updated_at: time() });
const currency = fc.constant("PHP");

/** Any record a resource accepts. */
export const anyRecord: Record<ResourceName, Arbitrary<{ readonly id: string }>> = {
  campaigns: fc.record({
    ...common("cmp"),
    title: text(200),
    type: word("blitz", "ugc", "package", "affiliate"),
    status: word("draft", "pending_funding", "active", "paused", "ended", "settled", "cancelled"),
    plan_id: maybe(id("pln")),
    currency,
    budget_centavos: count(),
    committed_centavos: count(),
    paid_centavos: count(),
    rate_per_1000_views_centavos: maybe(count()),
    fee_per_deliverable_centavos: maybe(count()),
    commission_bps: maybe(fc.integer({ min: 0, max: 10_000 })),
    platforms: fc.array(text(64), { maxLength: 20 }),
    starts_at: maybe(time()),
    ends_at: maybe(time()),
    settled_at: maybe(time()),
  }),
  submissions: fc.record({
    ...common("sub"),
    campaign_id: id("cmp"),
    creator_id: id("crt"),
    payout_id: maybe(id("po")),
    status: word("pending", "approved", "rejected", "withdrawn"),
    platform: text(64),
    content_url: url(),
    views: maybe(count()),
    earned_centavos: count(),
    currency,
    rejection_code: maybe(word("off_brief", "low_quality", "duplicate", "policy", "invalid_views", "other")),
    submitted_at: time(),
    reviewed_at: maybe(time()),
  }),
  payouts: fc.record({
    ...common("po"),
    campaign_id: id("cmp"),
    creator_id: id("crt"),
    status: word("pending", "processing", "paid", "failed", "cancelled", "reversed"),
    amount_centavos: count(),
    fee_centavos: count(),
    currency,
    submission_count: items(),
    conversion_count: items(),
    failure_code: maybe(word("account_invalid", "rail_unavailable", "compliance", "other")),
    initiated_at: maybe(time()),
    paid_at: maybe(time()),
  }),
  deposits: fc.record({
    ...common("dep"),
    campaign_id: maybe(id("cmp")),
    status: word("pending", "succeeded", "failed", "expired", "refunded"),
    amount_centavos: count(),
    refunded_centavos: count(),
    currency,
    method: word("gcash", "maya", "qrph", "card", "bank_transfer"),
    reference: maybe(text(200)),
    credited_at: maybe(time()),
  }),
  conversions: fc.record({
    ...common("cnv"),
    campaign_id: id("cmp"),
    link_id: id("lnk"),
    creator_id: id("crt"),
    payout_id: maybe(id("po")),
    status: word("pending", "approved", "reversed"),
    external_id: text(200),
    order_amount_centavos: count(),
    commission_centavos: count(),
    currency,
    occurred_at: time(),
    reversal_code: maybe(word("returned", "fraud", "duplicate", "order_error")),
  }),
  links: fc.record({
    ...common("lnk"),
    campaign_id: id("cmp"),
    creator_id: id("crt"),
    status: word("active", "paused", "disabled", "expired"),
    code: text(64),
    url: url(),
    destination_url: url(),
    clicks: count(),
    conversions: count(),
    expires_at: maybe(time()),
  }),
};

/** One valid record of a resource, the same each time. */
export function sampleRecord(resource: ResourceName): Readonly<Record<string, unknown>> {
  const [record] = fc.sample(anyRecord[resource], { numRuns: 1, seed: 1 });
  return { ...record };
}
