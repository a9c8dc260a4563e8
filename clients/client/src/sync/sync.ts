import { pause } from "../abortable.ts";
import { BrandRecordsError } from "../brand-records-error.ts";
import { RESOURCES, type RecordOf, type ResourceName } from "../generated/api.ts";
import type { CallOptions } from "../options.ts";
import type { Page, RecordList } from "../record-list.ts";
import type { RateLimit, ResponseMeta } from "../response-meta.ts";
import type { FinishedWalk, ListToRead, SyncPage, SyncProgress, SyncStore } from "./store.ts";

/** Longer than for one who waits: an interrupted walk loses nothing, but needs another run. */
const DEADLINE_MS = 600_000;
/** What a walk read first is old by then. */
const OLD_WALK_MS = 12 * 3_600_000;
const SHARE = 0.5;

export interface SyncOptions extends CallOptions {
  /** The part of the brand's limit that it takes, above 0 and up to 1: its other programs have the rest meanwhile. Default: 0.5. */
  readonly share?: number | undefined;
  /** Called after each page is written. */
  readonly onPage?: ((page: SyncPage) => void) | undefined;
  /** Called if the cursor of a list is refused, which is then read from its start: once in a run. */
  readonly onRestart?: ((resource: ResourceName, error: BrandRecordsError) => void) | undefined;
}

/** Opens a list at a cursor, which must be of a brand, if one is known. */
export type OpenList = (
  resource: ResourceName,
  options: CallOptions & { readonly cursor: string | undefined },
  brandId: string | undefined,
) => RecordList<ResourceName>;

/**
 * Walks every list into the store, and goes on with a walk that was interrupted. docs/syncing.md has the rules.
 *
 * @param expectBrand the brand that the copy must be of, if one is expected
 */
export async function sync(open: OpenList, store: SyncStore, options: SyncOptions, expectBrand: string | undefined): Promise<FinishedWalk> {
  const { share = SHARE } = options;
  if (!(share > 0 && share <= 1)) throw new TypeError("share must be above 0 and at most 1");
  const { brandId = expectBrand, progress } = await store.load();
  if (expectBrand !== undefined && brandId !== expectBrand) {
    throw new BrandRecordsError(`the copy is of brand ${brandId}, not of ${expectBrand}`, { code: "wrong_brand", brandId });
  }
  const lists = new WalkedLists(open, store, options, brandId);
  const walk = await lists.walk(progress ?? newWalk());
  const isOld = progress !== undefined && Date.now() - Date.parse(progress.startedAt) > OLD_WALK_MS;
  return isOld ? lists.walk(newWalk()) : walk;
}

const newWalk = (): SyncProgress => ({
  startedAt: new Date().toISOString(),
  toRead: RESOURCES.map((resource) => ({ resource, cursor: undefined })),
});

class WalkedLists {
  readonly #open: OpenList;
  readonly #store: SyncStore;
  readonly #options: SyncOptions;
  #brandId: string | undefined;
  /** The lists whose cursor was refused in this run. */
  readonly #restarted = new Set<ResourceName>();
  /** The limit, as the last page has it. */
  #rateLimit: RateLimit | undefined;
  /** When pages came, by `performance.now()`: later than the service counted them. */
  readonly #readAt: number[] = [];

  constructor(open: OpenList, store: SyncStore, options: SyncOptions, brandId: string | undefined) {
    this.#open = open;
    this.#store = store;
    this.#options = options;
    this.#brandId = brandId;
  }

  async walk({ startedAt, toRead }: SyncProgress): Promise<FinishedWalk> {
    let left = toRead;
    for (let [list, ...others] = left; list !== undefined; [list, ...others] = left) {
      const { resource } = list;
      const requestedAt = new Date().toISOString();
      const { data: records, nextCursor, meta } = await this.#read(list);
      this.#brandId = requireBrandId(meta);
      left = nextCursor === undefined ? others : [{ resource, cursor: nextCursor }, ...others];
      const listedAt = (meta.date ?? new Date()).toISOString();
      const page = { brandId: this.#brandId, resource, records, requestedAt, listedAt, progress: { startedAt, toRead: left } };
      await this.#store.writePage(page);
      this.#options.onPage?.(page);
    }
    const walk = { startedAt, finishedAt: new Date().toISOString() };
    await this.#store.finishWalk(walk);
    return walk;
  }

  /** Reads a list from its start if its cursor is refused, once in a run. */
  async #read({ resource, cursor }: ListToRead): Promise<Page<RecordOf[ResourceName]>> {
    const { signal, deadlineMs = DEADLINE_MS } = this.#options;
    await pause(this.#delayMs(), signal);
    try {
      const page = await this.#open(resource, { cursor, signal, deadlineMs }, this.#brandId).page();
      this.#rateLimit = page.meta.rateLimit;
      this.#readAt.push(performance.now());
      return page;
    } catch (error) {
      const isRefused = error instanceof BrandRecordsError && error.code === "invalid_cursor";
      if (!isRefused || this.#restarted.has(resource)) throw error;
      this.#restarted.add(resource);
      this.#options.onRestart?.(resource, error);
      return this.#read({ resource, cursor: undefined });
    }
  }

  /** Returns the milliseconds until one more request leaves others their part of the limit, in whichever window. */
  #delayMs(): number {
    const { share = SHARE } = this.#options;
    const { limit = Infinity, windowSeconds = 0 } = this.#rateLimit ?? {};
    const first = this.#readAt.at(-Math.max(1, Math.floor(limit * share)));
    return first === undefined ? 0 : Math.max(0, first + windowSeconds * 1_000 - performance.now());
  }
}

function requireBrandId({ brandId, status, requestId }: ResponseMeta): string {
  if (brandId !== undefined) return brandId;
  throw new BrandRecordsError("the response has no X-Brand-Id: is url the service's address?", {
    code: "unexpected_response",
    status,
    requestId,
  });
}
