import { setTimeout as pause } from "node:timers/promises";
import { WakeSignal, withTimeout } from "@brand-records/lifecycle";
import type { Database } from "@brand-records/postgres";
import { BackgroundRate, BATCH } from "../domain/background-rate.ts";
import { leaseSecondsFor } from "../domain/delivery.ts";
import type { SecretKeys } from "../domain/secret-keys.ts";
import { abandonDeliveries, claimDeliveries, type ClaimedDelivery } from "../storage/claims.ts";
import type { LaneExclusions } from "../storage/lanes-to-serve.ts";
import type { AttemptResult } from "../storage/results.ts";
import type { FirstAttempts, GiveBack, Pacer, Reservation } from "../use-cases/store-events.ts";
import { ResultWriter } from "./result-writer.ts";
import { ReturnedClaims } from "./returned-claims.ts";
import { Room } from "./room.ts";
import { sendDelivery, type AttemptOptions, type Sendable } from "./send-delivery.ts";
import { SigningSecrets } from "./signing-secrets.ts";
import { SpreadStarts } from "./spread-starts.ts";

/** Retries come due without a notification, and a notification may be lost with its connection. */
const POLL_MS = 500;
const RETRY_MS = 1_000;
/** Between claims. Room is given back in small batches, and a claim costs as much for one delivery as for many. */
const GATHER_MS = 20;
/** Attempts that start between two looks at the sockets. With 8, receivers and this process make more system calls for each. */
const STARTS_PER_TURN = 32;
/** Wait at a stop: a claim takes milliseconds unless the database does not respond. */
const CLAIM_STOP_MS = 2_000;

export interface SenderOptions extends AttemptOptions {
  readonly db: Database;
  readonly keys: SecretKeys;
  /** Attempts in flight in this process. */
  readonly inFlightMax: number;
  /** Time after which secrets that did not open are looked at again. Default: 10,000. */
  readonly recheckMs?: number;
}

/**
 * Claims due deliveries, or is given them by intake, posts them and writes the results, until it is stopped. Any number of processes share
 * the work.
 */
export class Sender implements FirstAttempts, Pacer {
  readonly #options: SenderOptions;
  readonly #results: ResultWriter;
  readonly #secrets: SigningSecrets;
  readonly #background = new BackgroundRate();
  readonly #stopping = new AbortController();
  readonly #room: Room;
  readonly #returned: ReturnedClaims;
  readonly #starts = new SpreadStarts(STARTS_PER_TURN);
  readonly #attempts = new Set<Promise<AttemptResult>>();
  #stopped = false;
  readonly #running: Promise<void>;
  readonly #wake = new WakeSignal();

  constructor(options: SenderOptions) {
    this.#options = options;
    this.#results = new ResultWriter(options);
    this.#secrets = new SigningSecrets(options);
    this.#room = new Room(options.inFlightMax, this.#stopping.signal);
    // This process may be the one that can send them. If it cannot remember which ones it cannot send, it looks at the next poll.
    this.#returned = new ReturnedClaims(options.db, options.log, () => void (this.#secrets.isFull || this.#wake.notify()));
    this.#running = this.#run();
  }

  /** Looks for due deliveries now instead of at the next poll. */
  wake(): void {
    this.#wake.notify();
  }

  /** Ids of the keys under which secrets are sealed that this process cannot open. */
  unusableKeyIds(): number[] {
    return this.#secrets.unusableIds();
  }

  /** Resolves when a batch of background work may begin that changes rows: it goes by the same rate as deliveries that are behind. */
  async turn(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted && this.#background.untilBatch(performance.now()) > 0)
      await pause(this.#background.untilBatch(performance.now()));
    this.#background.take(BATCH, performance.now());
  }

  get leaseSeconds(): number {
    return leaseSecondsFor(this.#options.deadlineMs);
  }

  get eventsMax(): number {
    return this.#room.eventsMax;
  }

  untilRoom(events: number, until: number): Promise<GiveBack> {
    return this.#room.untilRoom(events, until);
  }

  reservation(): Reservation {
    const take = this.#room.forFirstAttempts();
    return ({ id, secret_key_id, next_secret_key_id }, wanted) =>
      this.#secrets.excludes(id, [secret_key_id, next_secret_key_id]) ? 0 : take(id, wanted);
  }

  release(attempts: number): void {
    this.#room.release(attempts);
    if (attempts > 0) this.#wake.notify();
  }

  send(deliveries: readonly ClaimedDelivery[], receivedAt: number): void {
    this.#room.release(deliveries.length);
    // Nothing would wait for these attempts, nor write their results.
    if (this.#stopped) this.#returned.add(...deliveries);
    else this.#startAll(deliveries, receivedAt);
    this.#returned.begin();
  }

  reconcile(deliveries: readonly ClaimedDelivery[]): void {
    this.#returned.add(...deliveries);
    this.release(deliveries.length);
    this.#returned.begin();
  }

  /**
   * Stops claiming, finishes the attempts in flight and writes their results. Without a database this takes four seconds beyond
   * the attempts: results not written by then are logged, and their deliveries continue when their leases expire.
   */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#wake.notify();
    await withTimeout(this.#running, CLAIM_STOP_MS);
    this.#stopped = true;
    await withTimeout(Promise.all([this.#returned.all(), this.#secrets.stop()]), CLAIM_STOP_MS);
    await Promise.all(this.#attempts);
    await this.#results.stop();
  }

  async #run(): Promise<void> {
    const { log } = this.#options;
    let claimedAt = Number.NEGATIVE_INFINITY;
    while (!this.#stopping.signal.aborted) {
      this.#wake.reset();
      this.#returned.begin();
      let claimed = 0;
      try {
        if (this.#room.left > 0) claimed = await this.#claim();
        claimedAt = performance.now();
      } catch (error) {
        log.warn({ err: error }, "deliveries cannot be claimed");
        await pause(RETRY_MS, undefined, { signal: this.#stopping.signal }).catch(() => {});
      }
      if (claimed === 0) await this.#wake.wait(Math.min(POLL_MS, this.#background.untilBatch(performance.now()) || POLL_MS));
      const early = claimedAt + GATHER_MS - performance.now();
      if (early > 0) await pause(early);
    }
  }

  async #claim(): Promise<number> {
    const { db, metrics } = this.#options;
    const room = this.#room.forClaim();
    /** Receivers that are behind, and the units taken for them. One with a single delivery is given as many as it has room for. */
    const behind = { ids: new Set<string>(), units: 0 };
    let claimed: ClaimedDelivery[] = [];
    try {
      claimed = await claimDeliveries(db, {
        max: room.max,
        behind: this.#background.untilBatch(performance.now()) === 0,
        room: {
          take: (receiverId, wanted, isBehind) => {
            if (!isBehind) return room.take(receiverId, wanted);
            const units = this.#background.take(wanted, performance.now());
            behind.ids.add(receiverId);
            behind.units += units;
            return room.take(receiverId, units);
          },
          retry: () => room.retry(),
        },
        except: withReceivers(this.#secrets.exclusions, room.exceptIds()),
        leaseSeconds: this.leaseSeconds,
        onSlow: (lanes) => this.#reportSlow(lanes),
        onUncertain: (uncertain) => {
          this.#returned.add(...uncertain);
          this.#returned.begin();
        },
        failing: this.#room.servesFailing,
      });
    } finally {
      // Here and not in the promise's `finally`: intake could take the room before what was claimed occupies it.
      room.end();
      this.#background.giveBack(behind.units - claimed.filter(({ receiver_id }) => behind.ids.has(receiver_id)).length);
    }
    if (this.#stopped && claimed.length > 0) {
      this.#returned.add(...claimed);
      await this.#returned.all();
      return 0;
    }
    const before = this.#returned.length;
    const unsendable = this.#startAll(claimed);
    const returned = this.#returned.length - before;
    this.#returned.begin();
    if (unsendable.length > 0) {
      await abandonDeliveries(db, unsendable);
      metrics.finished.inc({ state: "removed" }, unsendable.length);
    }
    // Those that it remembers it does not claim again. Otherwise it pauses, or it would claim and return the same ones all the time.
    return this.#secrets.isFull ? claimed.length - returned : claimed.length;
  }

  /**
   * Starts the attempts of deliveries that are leased to this process. Those that only another process can send are returned later.
   *
   * @param receivedAt when their events came to this process, if they have come now: milliseconds of `performance.now()`
   * @returns those that no process can send
   */
  #startAll(deliveries: readonly ClaimedDelivery[], receivedAt?: number): ClaimedDelivery[] {
    const unsendable: ClaimedDelivery[] = [];
    for (const delivery of deliveries) {
      const { brand_id } = delivery;
      if (brand_id === null) unsendable.push(delivery);
      else if (lacksNextSecret(delivery)) this.#start({ ...delivery, brand_id, secrets: undefined }, receivedAt);
      else {
        const secrets = this.#secrets.open(delivery);
        if (secrets === undefined) this.#returned.add(delivery);
        else this.#start({ ...delivery, brand_id, secrets }, receivedAt);
      }
    }
    return unsendable;
  }

  #reportSlow(lanes: number): void {
    const { metrics, log } = this.#options;
    metrics.slowClaims.inc();
    log.warn({ lanes }, "claim given up: it took too long");
  }

  #start(delivery: Sendable, receivedAt: number | undefined): void {
    const occupied = this.#room.occupy(delivery);
    const attempt = new Promise<AttemptResult>((resolve) => {
      this.#starts.next(() => {
        if (receivedAt !== undefined) {
          const now = performance.now();
          this.#background.waited(now - receivedAt, now);
        }
        resolve(sendDelivery(delivery, this.#options));
      });
    });
    this.#attempts.add(attempt);
    void attempt.then((result) => {
      this.#attempts.delete(attempt);
      occupied.attempted();
      this.#results.write(result, () => {
        occupied.leave();
        // The lane has room again.
        this.#wake.notify();
      });
    });
  }
}

/** Returns undefined if nothing is excluded: that claim is the cheapest. */
function withReceivers(exclusions: LaneExclusions | undefined, receiverIds: readonly string[]): LaneExclusions | undefined {
  if (receiverIds.length === 0) return exclusions;
  return { secretKeyIds: exclusions?.secretKeyIds ?? [], receiverIds: [...(exclusions?.receiverIds ?? []), ...receiverIds] };
}

/** A test of a secret that was activated or withdrawn since. No process can send it, now or later. */
const lacksNextSecret = ({ sign_with_next, next_secret }: ClaimedDelivery): boolean => sign_with_next && next_secret === null;
