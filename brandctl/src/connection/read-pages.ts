import type { Key, Member } from "@brand-records/proto/accounts/v1";
import type { AccountsClient } from "./clients.ts";

/** The largest page that webhook returns, of deliveries, events and dead letters. */
export const WEBHOOK_PAGE_SIZE_MAX = 200;

/** Where a page begins, beside a list call's filters, by the field whose successor the page before it has. */
export interface PageRequest {
  readonly page_size: number;
  readonly after_id?: string;
  readonly page_token?: string;
}

type Page<Name extends string, Item> = { readonly [Key in Name]: readonly Item[] } & {
  readonly next_after_id?: string | null | undefined;
  readonly next_page_token?: string | null | undefined;
};

export interface Listing<Item> {
  readonly items: Item[];
  /** The list ended at the limit, before the service's last page. */
  readonly mayBeMore: boolean;
}

/**
 * Reads page after page, up to `limit` items.
 *
 * @param pageSizeMax the largest page that the service returns
 * @param name of the items in the response
 */
export async function readPages<const Name extends string, Item>(
  limit: number,
  pageSizeMax: number,
  name: Name,
  readPage: (page: PageRequest) => Promise<Page<Name, Item>>,
): Promise<Listing<Item>> {
  const items: Item[] = [];
  let start: Omit<PageRequest, "page_size"> | undefined = {};
  do {
    const page: Page<Name, Item> = await readPage({ page_size: Math.min(pageSizeMax, limit - items.length), ...start });
    items.push(...page[name]);
    const { next_after_id: after_id, next_page_token: page_token } = page;
    start = after_id != null ? { after_id } : page_token != null ? { page_token } : undefined;
  } while (start !== undefined && items.length < limit);
  return { items, mayBeMore: start !== undefined };
}

/** The largest page that accounts returns of either. */
const PAGE_SIZE_MAX = 200;

/** Reads all keys of a brand: first those that are not revoked, the newest of each first. */
export const keysOf = async (accounts: AccountsClient, brand_id: string): Promise<Key[]> =>
  (await readPages(Infinity, PAGE_SIZE_MAX, "keys", (page) => accounts.listKeys({ brand_id, ids: [], ...page }))).items;

/** Reads all members of a brand by e-mail address. */
export const membersOf = async (accounts: AccountsClient, brand_id: string): Promise<Member[]> =>
  (await readPages(Infinity, PAGE_SIZE_MAX, "members", (page) => accounts.listMembers({ brand_id, ...page }))).items;
