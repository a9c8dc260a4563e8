import type { Key, Member } from "@brand-records/proto/accounts/v1";
import type { AccountsClient } from "./clients.ts";
import { readPages, type Page, type PageRequest } from "./read-pages.ts";

/** The largest page that accounts returns of either. */
const PAGE_SIZE_MAX = 200;

/** Reads all keys of a brand: first those that are not revoked, the newest of each first. */
export const keysOf = (accounts: AccountsClient, brandId: string): Promise<Key[]> =>
  allPages(async ({ page_size, after_id: page_token }) => {
    const { keys, next_page_token } = await accounts.listKeys({ brand_id: brandId, ids: [], page_size, page_token });
    return { items: keys, next: next_page_token };
  });

/** Reads all members of a brand by e-mail address. */
export const membersOf = (accounts: AccountsClient, brandId: string): Promise<Member[]> =>
  allPages(async ({ page_size, after_id: page_token }) => {
    const { members, next_page_token } = await accounts.listMembers({ brand_id: brandId, page_size, page_token });
    return { items: members, next: next_page_token };
  });

const allPages = async <Item>(readPage: (page: PageRequest) => Promise<Page<Item>>): Promise<Item[]> =>
  (await readPages(Infinity, PAGE_SIZE_MAX, readPage)).items;
