import { seedBrand } from "../seed-brand.ts";
import { callContext, startStack, type Stack } from "../stack.ts";

/** Recorded ids and times are those of this seed. */
const SEED = 7;
const SIZES = { campaigns: 6, submissions: 40, payouts: 12, deposits: 5, conversions: 30, links: 5 };

/** The brand that is asked, and another whose records nobody may see. */
export const BRAND = {
  id: "brd_01k9recorded0000000000000a",
  name: "Ulap at Araw",
  owner: "owner@ulap.example",
  member: "member@ulap.example",
};
export const OTHER = { id: "brd_01k9recorded0000000000000b", name: "Alapaap", owner: "owner@alapaap.example" };

export interface RecordedSystem {
  readonly stack: Stack;
  /** Keys of BRAND. */
  readonly reporting: string;
  readonly planner: string;
  /** Accepts two requests a minute, of a brand of its own. */
  readonly limited: string;
  readonly otherKey: string;
  readonly consoleUrl: string;
}

export async function startRecordedSystem(): Promise<RecordedSystem> {
  // Durations, and when gateways hand over what they have, differ: no requests are kept.
  const envOf = { gateway: { RATE_LIMIT_PLUS: "2", USAGE_FLUSH_SECONDS: "1" }, accounts: { REQUESTS_RETENTION_HOURS: "0" } };
  const stack = await startStack({ hasConsole: true, envOf });
  try {
    await createBrand(stack, BRAND);
    await createBrand(stack, OTHER);
    await stack.accounts.addMember({ brand_id: BRAND.id, email: BRAND.member, role: "member" }, callContext());
    const small = await stack.createBrand({ tier: "plus" });
    for (const { id } of [BRAND, OTHER]) await seedBrand(stack, id, SIZES, { seed: SEED });
    return {
      stack,
      reporting: (await stack.createKey(BRAND, { name: "Reporting" })).secret,
      planner: (await stack.createKey(BRAND, { name: "Planner", permissions: ["campaigns:prepare"] })).secret,
      limited: small.key,
      otherKey: (await stack.createKey(OTHER, { name: "Reporting" })).secret,
      consoleUrl: stack.gateways[0].console?.url ?? "",
    };
  } catch (error) {
    await stack.stop();
    throw error;
  }
}

async function createBrand({ accounts }: Stack, { id, name, owner }: typeof OTHER): Promise<void> {
  await accounts.createBrand({ id, name, tier: "enterprise", verified: true }, callContext());
  await accounts.addMember({ brand_id: id, email: owner, role: "owner" }, callContext());
}
