import type { Key, Member } from "@brand-records/proto/accounts/v1";
import type { AccountsClient } from "./clients.ts";

/** The largest page that webhook returns, of deliveries, events and dead letters. */
export const WEBHOOK_PAGE_SIZE_MAX = 200;

/** The fields of a list call in addition to its filters. */
export interface PageRequest {
  readonly page_size: number;
  readonly after_id: string | null | undefined;
}

export interface Page<Item> {
  readonly items: readonly Item[];
  /** The id to continue after; null or undefined on the last page. */
  readonly next: string | null | undefined;
}

export interface Listing<Item> {
  readonly items: Item[];
  /** The list ended at the limit, before the service's last page. */
  readonly mayBeMore: boolean;
}

/**
 * Reads page after page, up to `limit` items.
 *
 * @param pageSizeMax the largest page that the service returns
 */
export async function readPages<Item>(
  limit: number,
  pageSizeMax: number,
  readPage: (page: PageRequest) => Promise<Page<Item>>,
): Promise<Listing<Item>> {
  const items: Item[] = [];
  let after: string | null | undefined;
  do {
    const page = await readPage({ page_size: Math.min(pageSizeMax, limit - items.length), after_id: after });
    items.push(...page.items);
    after = page.next;
  } while (after != null && items.length < limit);
  return { items, mayBeMore: after != null };
}

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
