import { type BrandRequests, type ServedRequest, ServedRequests } from "@brand-records/proto/accounts/v1";

/** Accounts keeps no more of a brand. */
const PER_BRAND_MAX = 1_000;
/** Requests that are not recorded yet: 10 MB. */
const REQUESTS_MAX = 20_000;
/** Requests that are recorded at once: 1 MB, at most 3. */
const BATCH_MAX = 5_000;

/**
 * The last requests of each brand, until they are recorded. Bounded: a brand has its newest 1,000. Where all together would have more than
 * `max`, each brand keeps half as many: the flood of one takes no place of another's.
 */
export class LastRequests {
  readonly #byBrand = new Map<string, ServedRequest[]>();
  readonly #max: number;
  #perBrandMax = PER_BRAND_MAX;
  #size = 0;

  constructor(max = REQUESTS_MAX) {
    this.#max = max;
  }

  get size(): number {
    return this.#size;
  }

  add(brandId: string, request: ServedRequest): void {
    const requests = this.#byBrand.get(brandId);
    if (requests === undefined) this.#byBrand.set(brandId, [request]);
    else requests.push(request);
    this.#size += 1;
    if (requests !== undefined) this.#cut(requests);
    while (this.#size > this.#max) this.#makeRoom();
  }

  /** Removes and returns up to 5,000 requests: all of some brands, those first that have waited longest. */
  take(): BrandRequests[] {
    const taken: BrandRequests[] = [];
    let sum = 0;
    for (const [brand_id, requests] of this.#byBrand) {
      sum += requests.length;
      if (sum > BATCH_MAX) break;
      taken.push({ brand_id, count: requests.length, requests: Buffer.from(ServedRequests.encode({ requests }).finish()) });
      this.#remove(brand_id, requests);
    }
    if (this.#size === 0) this.#perBrandMax = PER_BRAND_MAX;
    return taken;
  }

  #makeRoom(): void {
    if (this.#perBrandMax > 1) {
      this.#perBrandMax = Math.floor(this.#perBrandMax / 2);
      for (const requests of this.#byBrand.values()) this.#cut(requests);
      return;
    }
    const [first] = this.#byBrand;
    if (first !== undefined) this.#remove(...first);
  }

  #cut(requests: ServedRequest[]): void {
    for (; requests.length > this.#perBrandMax; this.#size -= 1) requests.shift();
  }

  #remove(brandId: string, requests: readonly ServedRequest[]): void {
    this.#byBrand.delete(brandId);
    this.#size -= requests.length;
  }
}
