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
const nullable = <T>(arbitrary: Arbitrary<T>): Arbitrary<T | null> => fc.option(arbitrary, { nil: null });
const oneOf = (...words: string[]): Arbitrary<string> => fc.constantFrom(...words);
const url = (): Arbitrary<string> => fc.webUrl({ withQueryParameters: true, withFragments: true, validSchemes: ["http", "https"] });

const common = (prefix: string) => ({ id: id(prefix), created_at: time(), updated_at: time() });
const currency = fc.constant("PHP");

/** Any record a resource accepts. */
export const anyRecord: Record<ResourceName, Arbitrary<{ readonly id: string }>> = {
  campaigns: fc.record({
    ...common("cmp"),
    title: text(200),
    type: oneOf("blitz", "ugc", "package", "affiliate"),
    status: oneOf("draft", "pending_funding", "active", "paused", "ended", "settled", "cancelled"),
    plan_id: nullable(id("pln")),
    currency,
    budget_centavos: count(),
    committed_centavos: count(),
    paid_centavos: count(),
    rate_per_1000_views_centavos: nullable(count()),
    fee_per_deliverable_centavos: nullable(count()),
    commission_bps: nullable(fc.integer({ min: 0, max: 10_000 })),
    platforms: fc.array(text(64), { maxLength: 20 }),
    starts_at: nullable(time()),
    ends_at: nullable(time()),
    settled_at: nullable(time()),
  }),
  submissions: fc.record({
    ...common("sub"),
    campaign_id: id("cmp"),
    creator_id: id("crt"),
    payout_id: nullable(id("po")),
    status: oneOf("pending", "approved", "rejected", "withdrawn"),
    platform: text(64),
    content_url: url(),
    views: nullable(count()),
    earned_centavos: count(),
    currency,
    rejection_code: nullable(oneOf("off_brief", "low_quality", "duplicate", "policy", "invalid_views", "other")),
    submitted_at: time(),
    reviewed_at: nullable(time()),
  }),
  payouts: fc.record({
    ...common("po"),
    campaign_id: id("cmp"),
    creator_id: id("crt"),
    status: oneOf("pending", "processing", "paid", "failed", "cancelled", "reversed"),
    amount_centavos: count(),
    fee_centavos: count(),
    currency,
    submission_count: items(),
    conversion_count: items(),
    failure_code: nullable(oneOf("account_invalid", "rail_unavailable", "compliance", "other")),
    initiated_at: nullable(time()),
    paid_at: nullable(time()),
  }),
  deposits: fc.record({
    ...common("dep"),
    campaign_id: nullable(id("cmp")),
    status: oneOf("pending", "succeeded", "failed", "expired", "refunded"),
    amount_centavos: count(),
    refunded_centavos: count(),
    currency,
    method: oneOf("gcash", "maya", "qrph", "card", "bank_transfer"),
    reference: nullable(text(200)),
    credited_at: nullable(time()),
  }),
  conversions: fc.record({
    ...common("cnv"),
    campaign_id: id("cmp"),
    link_id: id("lnk"),
    creator_id: id("crt"),
    payout_id: nullable(id("po")),
    status: oneOf("pending", "approved", "reversed"),
    external_id: text(200),
    order_amount_centavos: count(),
    commission_centavos: count(),
    currency,
    occurred_at: time(),
    reversal_code: nullable(oneOf("returned", "fraud", "duplicate", "order_error")),
  }),
  links: fc.record({
    ...common("lnk"),
    campaign_id: id("cmp"),
    creator_id: id("crt"),
    status: oneOf("active", "paused", "disabled", "expired"),
    code: text(64),
    url: url(),
    destination_url: url(),
    clicks: count(),
    conversions: count(),
    expires_at: nullable(time()),
  }),
};

/** One valid record of a resource, the same each time. */
export function sampleRecord(resource: ResourceName): Readonly<Record<string, unknown>> {
  const [record] = fc.sample(anyRecord[resource], { numRuns: 1, seed: 1 });
  return { ...record };
}
