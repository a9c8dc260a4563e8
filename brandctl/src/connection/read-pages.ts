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
