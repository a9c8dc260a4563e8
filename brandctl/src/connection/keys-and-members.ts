import type { Key, Member } from "@brand-records/proto/accounts/v1";
import type { AccountsClient } from "./clients.ts";
import { readPages } from "./read-pages.ts";

/** The largest page that accounts returns of either. */
const PAGE_SIZE_MAX = 200;

/** Reads all keys of a brand: first those that are not revoked, the newest of each first. */
export async function keysOf(accounts: AccountsClient, brandId: string): Promise<Key[]> {
  const { items } = await readPages(Infinity, PAGE_SIZE_MAX, async ({ page_size, after_id }) => {
    const { keys, next_page_token } = await accounts.listKeys({ brand_id: brandId, ids: [], page_size, page_token: after_id });
    return { items: keys, next: next_page_token };
  });
  return items;
}

/** Reads all members of a brand by e-mail address. */
export async function membersOf(accounts: AccountsClient, brandId: string): Promise<Member[]> {
  const { items } = await readPages(Infinity, PAGE_SIZE_MAX, async ({ page_size, after_id }) => {
    const { members, next_page_token } = await accounts.listMembers({ brand_id: brandId, page_size, page_token: after_id });
    return { items: members, next: next_page_token };
  });
  return items;
}
