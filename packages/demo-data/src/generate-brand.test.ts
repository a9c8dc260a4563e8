import { isDeepStrictEqual } from "node:util";
import { RESOURCES, type RecordOf } from "@brand-records/resources";
import { timeOfId } from "@brand-records/ids";
import fc from "fast-check";
import { type BrandSizes, DEMO_BRANDS, DEMO_RESOURCES, type DemoBrand, type DemoResource } from "./demo-brands.ts";
import { generateBrand, type GeneratedBrand } from "./generate-brand.ts";
import type { BrandOptions } from "./plans.ts";

const now = Date.UTC(2026, 10, 21, 8, 30);

const optionsOf = ({ id, sizes }: DemoBrand): BrandOptions => ({ brandId: id, seed: 1, now, sizes });
const [enterprise, , plus] = DEMO_BRANDS.map(optionsOf) as [BrandOptions, BrandOptions, BrandOptions];

type Everything = { readonly [Name in DemoResource]: RecordOf<Name>[] };

function everythingOf(brand: GeneratedBrand): Everything {
  return Object.fromEntries(DEMO_RESOURCES.map((name) => [name, [...brand[name]()]])) as unknown as Everything;
}

describe("generateBrand", () => {
  const demo = new Map<BrandOptions, Everything>();
  beforeAll(() => {
    for (const options of [enterprise, plus]) demo.set(options, everythingOf(generateBrand(options)));
  });

  it.each(DEMO_RESOURCES)(
    "makes %s that are as long as the resource's example, by which assistants estimate the size of a page",
    (name) => {
      const records = demo.get(enterprise)?.[name] ?? [];
      const average = records.reduce((sum, record) => sum + JSON.stringify(record).length, 0) / records.length;
      const example = JSON.stringify(RESOURCES[name].example).length;
      expect(example).toBeGreaterThan(0.9 * average);
      expect(example).toBeLessThan(1.1 * average);
    },
  );

  it("is consistent: references exist, sums add up, times are in order", () => {
    for (const [{ sizes }, everything] of demo) {
      expect(audit(everything)).toEqual([]);
      for (const name of DEMO_RESOURCES) expect(everything[name]).toHaveLength(sizes[name]);
    }
  });

  it("is consistent and valid in any sizes, even with more payouts than items to pay for", () => {
    const few = fc.integer({ min: 0, max: 60 });
    const sizes: fc.Arbitrary<BrandSizes> = fc.record({
      campaigns: fc.integer({ min: 1, max: 40 }),
      submissions: few,
      payouts: few,
      deposits: few,
      conversions: fc.integer({ min: 0, max: 300 }),
      links: fc.integer({ min: 1, max: 40 }),
    });
    fc.assert(
      fc.property(sizes, fc.integer(), (chosen, seed) => {
        const everything = everythingOf(generateBrand({ brandId: "brd_any", seed, now, sizes: chosen }));
        for (const name of DEMO_RESOURCES) {
          expect(everything[name]).toHaveLength(chosen[name]);
          expect(everything[name].filter(isInvalid(name))).toEqual([]);
        }
        expect(audit(everything)).toEqual([]);
      }),
      { numRuns: 25 },
    );
  });

  it("gives the large demo brand every status and type, long tails and large ties", () => {
    const { campaigns, submissions, conversions, payouts } = demo.get(enterprise) as Everything;
    const paid = new Set([...submissions, ...conversions].map(({ payout_id }) => payout_id));
    expect(payouts.filter(({ id }) => !paid.has(id))).toEqual([]);
    expect(submissions.filter(({ status }) => status === "pending")).toHaveLength(200);
    expect(new Set(submissions.map(({ status }) => status)).size).toBe(4);
    expect(new Set(campaigns.map(({ status }) => status)).size).toBe(7);
    expect(new Set(campaigns.map(({ type }) => type)).size).toBe(4);
    expect(new Set(payouts.map(({ status }) => status)).size).toBe(6);
    // More records share a millisecond than the largest page holds.
    for (const records of [submissions, conversions]) expect(largestTie(records)).toBeGreaterThan(200);
    const views = submissions.map(({ views }) => views ?? 0).toSorted((a, b) => b - a);
    expect(views[0]).toBeGreaterThan(50 * (views[1_000] ?? 0));
  });

  it("makes the same records for the same options, and others for others", () => {
    const first = demo.get(plus) as Everything;
    const brand = generateBrand(plus);
    // Asks in any order, any number of times.
    for (const name of [...DEMO_RESOURCES.toReversed(), ...DEMO_RESOURCES]) expect([...brand[name]()]).toEqual(first[name]);
    for (const other of [
      { ...plus, seed: 99 },
      { ...plus, brandId: "brd_other" },
      { ...plus, now: now + 1 },
    ]) {
      expect([...generateBrand(other).conversions()]).not.toEqual(first.conversions);
    }
  });

  it("streams: the first of a hundred million conversions do not need the others", () => {
    const sizes = { ...plus.sizes, conversions: 100_000_000, submissions: 100_000_000, deposits: 100_000_000 };
    const brand = generateBrand({ ...plus, sizes });
    expect([...take(brand.conversions(), 3)].filter(isInvalid("conversions"))).toEqual([]);
    expect([...take(brand.submissions(), 3)].filter(isInvalid("submissions"))).toEqual([]);
  });

  it.each([
    [{ campaigns: 0 }, /^campaigns: /],
    [{ links: 0 }, /^links: /],
    [{ payouts: -1 }, /^payouts: /],
    [{ deposits: 1.5 }, /^deposits: /],
    [{ conversions: Number.NaN }, /^conversions: /],
  ])("refuses sizes that leave records with nothing to belong to: %j", (wrong, message) => {
    expect(() => generateBrand({ ...plus, sizes: { ...plus.sizes, ...wrong } })).toThrow(message);
  });

  it("makes nothing for sizes of 0", () => {
    const sizes = { campaigns: 0, submissions: 0, payouts: 0, deposits: 0, conversions: 0, links: 0 };
    const everything = everythingOf(generateBrand({ ...plus, sizes }));
    expect(Object.values(everything).flat()).toEqual([]);
  });
});

describe("DEMO_BRANDS", () => {
  it("sell in shops that match their owners", () => {
    for (const { id, ownerEmail } of DEMO_BRANDS) {
      const [link] = generateBrand({ ...plus, brandId: id }).links();
      expect(new URL(link?.destination_url ?? "").hostname).toBe(ownerEmail.split("@")[1]);
    }
  });

  it("have TypeIDs, and owners under .example", () => {
    for (const { id, ownerEmail } of DEMO_BRANDS) {
      expect(id).toMatch(/^brd_[0-7][0-9a-hjkmnp-tv-z]{25}$/);
      expect(ownerEmail).toMatch(/\.example$/);
    }
    expect(DEMO_BRANDS.map(({ tier }) => tier)).toEqual(["enterprise", "pro", "plus"]);
  });
});

/** Whether the schema refuses a record, or would change it. */
function isInvalid(name: DemoResource): (record: unknown) => boolean {
  return (record) => !isDeepStrictEqual(RESOURCES[name].schema.safeParse(record).data, record);
}

function* take<T>(items: Iterable<T>, count: number): Generator<T> {
  let taken = 0;
  for (const item of items) {
    if (taken++ >= count) return;
    yield item;
  }
}

function largestTie(records: readonly { created_at: string }[]): number {
  const counts = new Map<string, number>();
  for (const { created_at } of records) counts.set(created_at, (counts.get(created_at) ?? 0) + 1);
  return Math.max(...counts.values());
}

/** Lists every inconsistency. */
function audit(everything: Everything): string[] {
  const problems: string[] = [];
  const expectThat = (holds: boolean, problem: string): void => {
    if (!holds) problems.push(problem);
  };
  const { campaigns, submissions, payouts, deposits, conversions, links } = everything;
  const campaignById = new Map(campaigns.map((campaign) => [campaign.id, campaign]));
  const payoutById = new Map(payouts.map((payout) => [payout.id, payout]));
  const linkById = new Map(links.map((link) => [link.id, link]));
  const sums = new Map<string, number>();
  const add = (key: string, amount: number): void => void sums.set(key, (sums.get(key) ?? 0) + amount);
  const sum = (key: string): number => sums.get(key) ?? 0;

  for (const records of Object.values(everything)) {
    expectThat(new Set(records.map(({ id }) => id)).size === records.length, "an id is not unique");
    for (const record of records) {
      expectThat(timeOfId(record.id) === Date.parse(record.created_at), `${record.id}: the time in the id is not created_at`);
      expectThat(record.created_at <= record.updated_at, `${record.id}: updated before it was created`);
      for (const [key, value] of Object.entries(record)) {
        const planned = ["starts_at", "ends_at", "expires_at"].includes(key);
        const late = key.endsWith("_at") && !planned && value !== null && Date.parse(String(value)) > now;
        expectThat(!late, `${record.id}: ${key} lies in the future`);
        expectThat(!key.endsWith("_id") || key === "external_id" || value !== "", `${record.id}: ${key} is empty`);
      }
    }
  }
  expectThat(new Set(links.map(({ code }) => code)).size === links.length, "a link code is not unique");
  expectThat(new Set(conversions.map(({ external_id }) => external_id)).size === conversions.length, "an external_id is not unique");

  const checkPaidItem = (item: RecordOf<"submissions"> | RecordOf<"conversions">, amount: number, kind: string): void => {
    const campaign = campaignById.get(item.campaign_id);
    expectThat(campaign !== undefined, `${item.id}: its campaign does not exist`);
    expectThat(!["draft", "pending_funding", "cancelled"].includes(campaign?.status ?? ""), `${item.id}: its campaign never ran`);
    if (item.status === "approved") add(`committed ${item.campaign_id}`, amount);
    if (campaign?.status === "settled") {
      expectThat(item.status !== "pending", `${item.id}: pending in a settled campaign`);
      expectThat(item.status !== "approved" || item.payout_id !== null, `${item.id}: not paid in a settled campaign`);
    }
    if (item.payout_id === null) return;
    const payout = payoutById.get(item.payout_id);
    expectThat(payout?.campaign_id === item.campaign_id, `${item.id}: its payout belongs to another campaign`);
    expectThat(payout?.creator_id === item.creator_id, `${item.id}: its payout belongs to another creator`);
    expectThat(item.status === "approved", `${item.id}: has a payout though it is ${item.status}`);
    expectThat((payout?.created_at ?? "") >= item.created_at, `${item.id}: created after its payout`);
    add(`amount ${item.payout_id}`, amount);
    add(`${kind} ${item.payout_id}`, 1);
  };

  for (const submission of submissions) {
    const { id, status, views, earned_centavos, rejection_code, reviewed_at, submitted_at, created_at } = submission;
    checkPaidItem(submission, earned_centavos, "submissions");
    const campaign = campaignById.get(submission.campaign_id);
    const rate = campaign?.rate_per_1000_views_centavos ?? null;
    const earned = rate === null ? (campaign?.fee_per_deliverable_centavos ?? 0) : Math.floor(((views ?? 0) * rate) / 1_000);
    expectThat(earned_centavos === (status === "approved" ? earned : 0), `${id}: the earnings are wrong`);
    expectThat(campaign?.platforms.includes(submission.platform) === true, `${id}: its platform is not one of its campaign`);
    expectThat((rejection_code !== null) === (status === "rejected"), `${id}: ${status}, with rejection_code ${rejection_code}`);
    expectThat((reviewed_at !== null) === (status === "approved" || status === "rejected"), `${id}: ${status}, reviewed ${reviewed_at}`);
    expectThat(submitted_at <= created_at, `${id}: submitted after it was recorded`);
  }

  for (const conversion of conversions) {
    const { id, status, reversal_code, occurred_at, created_at, commission_centavos, order_amount_centavos } = conversion;
    checkPaidItem(conversion, commission_centavos, "conversions");
    const link = linkById.get(conversion.link_id);
    const bps = campaignById.get(conversion.campaign_id)?.commission_bps ?? 0;
    expectThat(link?.campaign_id === conversion.campaign_id, `${id}: its link belongs to another campaign`);
    expectThat(link?.creator_id === conversion.creator_id, `${id}: its link belongs to another creator`);
    expectThat((link?.created_at ?? "9") <= occurred_at && occurred_at <= created_at, `${id}: ordered at the wrong time`);
    expectThat(commission_centavos === Math.floor((order_amount_centavos * bps) / 10_000), `${id}: the commission is wrong`);
    expectThat((reversal_code !== null) === (status === "reversed"), `${id}: ${status}, with reversal_code ${reversal_code}`);
    if (status !== "reversed") add(`link ${conversion.link_id}`, 1);
  }

  for (const link of links) {
    const campaign = campaignById.get(link.campaign_id);
    expectThat(campaign?.type === "affiliate", `${link.id}: its campaign is not an affiliate campaign`);
    expectThat(link.conversions === sum(`link ${link.id}`), `${link.id}: conversions do not add up`);
    expectThat(link.clicks >= link.conversions, `${link.id}: fewer clicks than conversions`);
    expectThat((campaign?.starts_at ?? "9") <= link.created_at, `${link.id}: older than its campaign`);
    expectThat(link.url.endsWith(`/${link.code}`), `${link.id}: its url lacks its code`);
  }

  for (const payout of payouts) {
    const { id, status, amount_centavos, failure_code, initiated_at, paid_at, created_at } = payout;
    const campaign = campaignById.get(payout.campaign_id);
    if (sums.has(`amount ${id}`)) {
      expectThat(amount_centavos === sum(`amount ${id}`), `${id}: the amount does not add up`);
      expectThat(payout.submission_count === sum(`submissions ${id}`), `${id}: submission_count does not add up`);
      expectThat(payout.conversion_count === sum(`conversions ${id}`), `${id}: conversion_count does not add up`);
    } else {
      add(`committed ${payout.campaign_id}`, amount_centavos);
    }
    expectThat(payout.submission_count + payout.conversion_count > 0, `${id}: pays for nothing`);
    if (status === "paid") add(`paid ${payout.campaign_id}`, amount_centavos);
    expectThat((failure_code !== null) === (status === "failed"), `${id}: ${status}, with failure_code ${failure_code}`);
    expectThat((paid_at !== null) === ["paid", "reversed"].includes(status), `${id}: ${status}, paid at ${paid_at}`);
    expectThat((initiated_at === null) === ["pending", "cancelled"].includes(status), `${id}: ${status}, initiated at ${initiated_at}`);
    expectThat(created_at <= (initiated_at ?? created_at) && (initiated_at ?? "") <= (paid_at ?? "9"), `${id}: times out of order`);
    if (campaign?.status !== "settled") continue;
    expectThat(["paid", "cancelled", "reversed"].includes(status), `${id}: ${status} in a settled campaign`);
    expectThat((paid_at ?? "") <= (campaign.settled_at ?? ""), `${id}: paid after its campaign was settled`);
  }

  for (const deposit of deposits) {
    const { id, status, amount_centavos, refunded_centavos, credited_at, campaign_id } = deposit;
    expectThat(campaign_id === null || campaignById.has(campaign_id), `${id}: its campaign does not exist`);
    expectThat(refunded_centavos <= amount_centavos && amount_centavos > 0, `${id}: refunded more than was paid`);
    expectThat((credited_at !== null) === ["succeeded", "refunded"].includes(status), `${id}: ${status}, credited at ${credited_at}`);
    if (status === "succeeded" && campaign_id !== null) add(`deposited ${campaign_id}`, amount_centavos - refunded_centavos);
  }

  for (const campaign of campaigns) {
    const { id, status, type, budget_centavos, committed_centavos, paid_centavos, starts_at, ends_at, settled_at } = campaign;
    expectThat(committed_centavos === sum(`committed ${id}`), `${id}: committed_centavos does not add up`);
    expectThat(paid_centavos === sum(`paid ${id}`), `${id}: paid_centavos does not add up`);
    expectThat(
      paid_centavos <= committed_centavos && committed_centavos <= budget_centavos,
      `${id}: paid more than earned, or earned more than budgeted`,
    );
    expectThat(!sums.has(`deposited ${id}`) || sum(`deposited ${id}`) === budget_centavos, `${id}: deposits are not its budget`);
    expectThat((settled_at !== null) === (status === "settled"), `${id}: ${status}, settled at ${settled_at}`);
    expectThat((starts_at ?? "") <= (ends_at ?? "9"), `${id}: ends before it starts`);
    expectThat((campaign.rate_per_1000_views_centavos !== null) === (type === "blitz"), `${id}: ${type} with a rate`);
    expectThat((campaign.fee_per_deliverable_centavos !== null) === (type === "ugc" || type === "package"), `${id}: ${type} with a fee`);
    expectThat((campaign.commission_bps !== null) === (type === "affiliate"), `${id}: ${type} with a commission`);
  }
  return problems;
}
