import { type BrandRequests, type ServedRequest, ServedRequests } from "@brand-records/proto/accounts/v1";

/** Accounts keeps no more of a brand. */
const PER_BRAND_MAX = 1_000;
/** Requests that are not recorded yet: 14 MB. Accounts may be unavailable for a while. */
const REQUESTS_MAX = 20_000;
/** Requests that are recorded at once: 1 MB, at most 3. */
const BATCH_MAX = 5_000;

/** The last requests of each brand, until they are recorded. Bounded: beyond it the oldest of a brand with more than its share makes room. */
export class LastRequests {
  readonly #byBrand = new Map<string, ServedRequest[]>();
  readonly #max: number;
  #size = 0;

  constructor(max = REQUESTS_MAX) {
    this.#max = max;
  }

  get size(): number {
    return this.#size;
  }

  add(brandId: string, request: ServedRequest): void {
    const requests = this.#byBrand.get(brandId) ?? [];
    if (requests.push(request) === 1) this.#byBrand.set(brandId, requests);
    if (requests.length > PER_BRAND_MAX) requests.shift();
    else if (this.#size < this.#max) this.#size += 1;
    else this.#dropOldest(requests);
  }

  /**
   * Drops a brand's own oldest request, or that of the first brand with more than its share. Few calls search: a brand reaches its share
   * once.
   */
  #dropOldest(own: ServedRequest[]): void {
    const share = this.#max / this.#byBrand.size;
    const hasMore = (requests: ServedRequest[]): boolean => requests.length > share;
    const dropped = hasMore(own) ? own : [...this.#byBrand.values()].find(hasMore);
    dropped?.shift();
  }

  /** Removes and returns up to 5,000 requests: all of some brands, those first that have waited longest. */
  take(): BrandRequests[] {
    const taken: BrandRequests[] = [];
    let sum = 0;
    for (const [brand_id, requests] of this.#byBrand) {
      const count = requests.length;
      sum += count;
      if (sum > BATCH_MAX) break;
      if (count > 0) taken.push({ brand_id, count, requests: Buffer.from(ServedRequests.encode({ requests }).finish()) });
      this.#byBrand.delete(brand_id);
      this.#size -= count;
    }
    return taken;
  }
}
