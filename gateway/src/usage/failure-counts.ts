import type { FailedMinute } from "@brand-records/proto/accounts/v1";

const MINUTE_MS = 60_000;
/** Counts that are not recorded yet: 10 MB. */
const COUNTS_MAX = 20_000;
/** The last ones of each count. */
const REQUEST_IDS_MAX = 3;

/** A request that was refused or failed. Everything here is one of few values, but for the id. */
export interface Failure {
  readonly brand_id: string;
  readonly key_id: string;
  readonly route: string;
  readonly code: string;
  readonly field: string;
  readonly request_id: string;
}

interface Counted extends Omit<FailedMinute, "requests"> {
  requests: number;
}

/** Refused and failed requests by minute, key, route, code and field. Bounded: beyond, those that are not counted in this minute yet are dropped. */
export class FailureCounts {
  readonly #counts = new Map<string, Counted>();
  readonly #max: number;
  #dropped = 0;

  constructor(max = COUNTS_MAX) {
    this.#max = max;
  }

  /** Failures dropped so far. */
  get dropped(): number {
    return this.#dropped;
  }

  get size(): number {
    return this.#counts.size;
  }

  /** @param now milliseconds since the epoch */
  add({ request_id, ...failure }: Failure, now: number): void {
    const minute = now - (now % MINUTE_MS);
    const id = [minute, failure.key_id, failure.route, failure.code, failure.field].join(" ");
    let counted = this.#counts.get(id);
    if (counted === undefined) {
      if (this.#counts.size === this.#max) {
        this.#dropped += 1;
        return;
      }
      counted = { ...failure, minute: new Date(minute).toISOString(), requests: 0, request_ids: [] };
      this.#counts.set(id, counted);
    }
    counted.requests += 1;
    counted.request_ids.push(request_id);
    if (counted.request_ids.length > REQUEST_IDS_MAX) counted.request_ids.shift();
  }

  /** Removes and returns up to `max` counts, oldest first. */
  take(max: number): FailedMinute[] {
    const taken = [...this.#counts].slice(0, max);
    for (const [id] of taken) this.#counts.delete(id);
    return taken.map(([, counted]) => counted);
  }
}
