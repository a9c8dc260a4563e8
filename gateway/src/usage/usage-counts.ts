import { randomUUID } from "node:crypto";
import type { ClientUsage, FailedMinute, MinuteUsage, RecordUsageRequest, ServedRequest } from "@brand-records/proto/accounts/v1";
import type { Principal } from "../auth/principal.ts";
import { manilaDay } from "../manila.ts";
import { LastRequests } from "./last-requests.ts";

const MINUTE_MS = 60_000;
/** Counts of requests, and of clients, that are not recorded yet: 10 MB each. Accounts may be unavailable for a while. */
const COUNTS_MAX = 50_000;
/** The most minutes, and the most clients, that accounts takes at once. */
const BATCH_MAX = 5_000;
/** Counts of failures that are not recorded yet: 10 MB. */
const FAILURES_MAX = 20_000;
/** The most counts of failures that accounts takes at once. */
const BATCH_FAILURES_MAX = 2_000;
/** The last ones of each count of failures. */
const REQUEST_IDS_MAX = 3;
/** Names of a key and day that are counted apart until they are recorded. Accounts has the same bound for all gateways together. */
const NAMES_MAX = 20;
/** The name under which the rest is counted. */
const OTHER = "other";

export type Key = Pick<Principal, "brand_id" | "key_id">;

/** A request with a key. Everything here is one of few values, but for its id, its duration and its client. */
export interface KeyedRequest extends Pick<Key, "brand_id">, Omit<ServedRequest, "at"> {
  /** What its error is about; empty without one. */
  readonly field: string;
  /** Counts as refused or failed. */
  readonly isFailure: boolean;
}

/** A message of an assistant. */
export interface DeclaredMessage {
  /** What its client calls itself. */
  readonly declared: string;
  /** If not, it connects, lists tools or pings, or was refused unread. */
  readonly callsTool: boolean;
}

/** Counts by id. Bounded: beyond `max`, what has an id that is not counted yet is dropped. */
class BoundedCounts<Count> {
  readonly #counts = new Map<string, Count>();
  readonly #max: number;
  #dropped = 0;

  constructor(max: number) {
    this.#max = max;
  }

  /** What was dropped so far. */
  get dropped(): number {
    return this.#dropped;
  }

  get size(): number {
    return this.#counts.size;
  }

  has(id: string): boolean {
    return this.#counts.has(id);
  }

  /** Returns the count of an id, new if there is none; undefined if there is no room for it. */
  of(id: string, create: () => Count): Count | undefined {
    const counted = this.#counts.get(id);
    if (counted !== undefined) return counted;
    if (this.#counts.size === this.#max) {
      this.#dropped += 1;
      return undefined;
    }
    const created = create();
    this.#counts.set(id, created);
    return created;
  }

  /** Removes and returns up to `max` counts, oldest first. */
  take(max: number): Count[] {
    const taken = [...this.#counts].slice(0, max);
    for (const [id] of taken) this.#counts.delete(id);
    return taken.map(([, count]) => count);
  }
}

/**
 * Requests by minute and key, messages of assistants by day, key and declared name, refused and failed requests by minute and what they were,
 * and the last requests of each brand.
 */
export class UsageCounts {
  readonly #minutes: BoundedCounts<MinuteUsage>;
  readonly #clients: BoundedCounts<ClientUsage>;
  readonly #failures: BoundedCounts<FailedMinute>;
  #requests: LastRequests | undefined = new LastRequests();
  /** How many names are counted of each day and key. */
  readonly #names = new Map<string, number>();

  constructor(max = COUNTS_MAX) {
    this.#minutes = new BoundedCounts(max);
    this.#clients = new BoundedCounts(max);
    this.#failures = new BoundedCounts(Math.min(max, FAILURES_MAX));
  }

  /** Requests, messages and failures dropped so far. */
  get dropped(): number {
    return this.#minutes.dropped + this.#clients.dropped + this.#failures.dropped;
  }

  get size(): number {
    return this.#minutes.size + this.#clients.size + this.#failures.size + (this.#requests?.size ?? 0);
  }

  /** Collects requests from now on, or none. Accounts says with each batch whether it keeps them. */
  collectRequests(isKept: boolean): void {
    this.#requests = isKept ? (this.#requests ?? new LastRequests()) : undefined;
  }

  /** @param now milliseconds since the epoch, as for the others */
  add({ brand_id, key_id }: Key, verdict: "accepted" | "refused", now: number): void {
    const minute = startOfMinute(now);
    const create = (): MinuteUsage => ({ brand_id, key_id, minute: new Date(minute).toISOString(), accepted: 0, refused: 0 });
    const counted = this.#minutes.of(`${minute} ${key_id}`, create);
    if (counted !== undefined) counted[verdict] += 1;
  }

  addMessage({ brand_id, key_id }: Key, { declared, callsTool }: DeclaredMessage, now: number): void {
    const day = manilaDay(now);
    const ofKey = `${day} ${key_id}`;
    const names = this.#names.get(ofKey) ?? 0;
    const name = names < NAMES_MAX || this.#clients.has(`${ofKey} ${declared}`) ? declared : OTHER;
    const create = (): ClientUsage => {
      this.#names.set(ofKey, names + 1);
      return { brand_id, key_id, day, name, messages: 0, connecting: 0 };
    };
    const counted = this.#clients.of(`${ofKey} ${name}`, create);
    if (counted === undefined) return;
    counted.messages += 1;
    if (!callsTool) counted.connecting += 1;
  }

  /** @param now when it was over */
  addRequest({ brand_id, key_id, route, http_status, code, duration_ms, request_id, client }: KeyedRequest, now: number): void {
    const at = new Date(now - duration_ms).toISOString();
    this.#requests?.add(brand_id, { at, key_id, route, http_status, code, duration_ms, request_id, client });
  }

  addFailure({ request_id, brand_id, key_id, route, code, field }: KeyedRequest, now: number): void {
    const minute = startOfMinute(now);
    const id = [minute, key_id, route, code, field].join(" ");
    const failure = { brand_id, key_id, route, code, field };
    const create = (): FailedMinute => ({ ...failure, minute: new Date(minute).toISOString(), requests: 0, request_ids: [] });
    const counted = this.#failures.of(id, create);
    if (counted === undefined) return;
    counted.requests += 1;
    counted.request_ids.push(request_id);
    if (counted.request_ids.length > REQUEST_IDS_MAX) counted.request_ids.shift();
  }

  /** Removes and returns what fits into a batch, oldest first; undefined if there is nothing. By its id, a repetition adds nothing. */
  takeBatch(): RecordUsageRequest | undefined {
    if (this.size === 0) return undefined;
    return {
      batch_id: randomUUID(),
      minutes: this.#minutes.take(BATCH_MAX),
      clients: this.#takeClients(),
      failures: this.#failures.take(BATCH_FAILURES_MAX),
      requests: this.#requests?.take() ?? [],
    };
  }

  #takeClients(): ClientUsage[] {
    const taken = this.#clients.take(BATCH_MAX);
    for (const { day, key_id } of taken) {
      const left = (this.#names.get(`${day} ${key_id}`) ?? 0) - 1;
      if (left > 0) this.#names.set(`${day} ${key_id}`, left);
      else this.#names.delete(`${day} ${key_id}`);
    }
    return taken;
  }
}

const startOfMinute = (now: number): number => now - (now % MINUTE_MS);
