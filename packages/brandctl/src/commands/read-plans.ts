import type { Plan } from "@brand-records/proto/plans/v1";
import type { PlansClient } from "../connection/clients.ts";

/** As many as the service answers at once. */
const PAGE_SIZE = 40;

export interface PlansWanted {
  readonly brandId: string;
  readonly status: string | undefined;
  readonly limit: number;
}

/** A brand's newest plans, over as many pages as it takes. `mayBeMore`: the limit is why there are no others. */
export async function readPlans(
  client: Pick<PlansClient, "listPlans">,
  { brandId, status, limit }: PlansWanted,
): Promise<{ readonly plans: Plan[]; readonly mayBeMore: boolean }> {
  const plans: Plan[] = [];
  let after: string | null | undefined;
  do {
    const page_size = Math.min(PAGE_SIZE, limit - plans.length);
    const page = await client.listPlans({ brand_id: brandId, status, page_size, after_id: after });
    plans.push(...page.plans);
    after = page.next_after_id;
  } while (after != null && plans.length < limit);
  return { plans, mayBeMore: after != null };
}
