import type { AccountsClient } from "../connection/clients.ts";
import { CommandFailure } from "../failure.ts";

const PAGE_SIZE = 200;
/** Brands asked for their keys at the same time. */
const ASKED_AT_ONCE = 20;

/**
 * Which brand a key belongs to, by asking brand after brand: a key's id does not tell.
 *
 * @throws CommandFailure when no brand has it
 */
export async function findKeyBrand(accounts: AccountsClient, keyId: string): Promise<string> {
  let after: string | null | undefined;
  do {
    const page = await accounts.listBrands({ page_size: PAGE_SIZE, after_id: after });
    for (let from = 0; from < page.brands.length; from += ASKED_AT_ONCE) {
      const asked = page.brands.slice(from, from + ASKED_AT_ONCE);
      const answers = await Promise.all(asked.map(({ id }) => accounts.listKeys({ brand_id: id })));
      const found = answers.flatMap(({ keys }) => keys).find(({ id }) => id === keyId);
      if (found !== undefined) return found.brand_id;
    }
    after = page.next_after_id;
  } while (after != null);
  throw new CommandFailure("not_found", "No brand has a key of this id.", { hint: "brandctl keys list BRAND shows a brand's keys" });
}
