/** The largest page that webhook returns, of deliveries, events and dead letters. */
export const WEBHOOK_PAGE_SIZE_MAX = 200;

/** What a list call takes beside its filters. */
export interface PageRequest {
  readonly page_size: number;
  readonly after_id: string | null | undefined;
}

/** A page's items, and the id to continue after; none on the last page. */
export interface Page<Item> {
  readonly items: readonly Item[];
  readonly next: string | null | undefined;
}

export interface Listing<Item> {
  readonly items: Item[];
  /** The limit ended the list, not the service. */
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
