import { setTimeout as pause } from "node:timers/promises";
import { WakeSignal, withTimeout } from "@brand-records/lifecycle";
import type { Database } from "@brand-records/postgres";
import { traceFields, type Logger } from "@brand-records/telemetry";
import { idSequence } from "@brand-records/typeid";
import { leaseSecondsFor } from "../domain/delivery.ts";
import { eventBody } from "../domain/event-body.ts";
import type { Outcome } from "../domain/outcome.ts";
import { nextState, type NextState } from "../domain/retry-schedule.ts";
import type { SecretKeys } from "../domain/secret-keys.ts";
import { signatureHeaders, unsignedHeaders } from "../domain/signature.ts";
import { abandonDeliveries, claimDeliveries, returnClaims, type ClaimedDelivery } from "../storage/claims.ts";
import type { LaneExclusions } from "../storage/lanes.ts";
import type { AttemptResult } from "../storage/results.ts";
import type { Pacer } from "../use-cases/pacer.ts";
import type { FirstAttempts, Reservation, Reserved } from "../use-cases/store-events.ts";
import { endAttemptSpan, startAttemptSpan } from "./attempt-span.ts";
import { attemptPost } from "./attempt.ts";
import type { ReceiverAgent } from "./receiver-agent.ts";
import { ResultWriter } from "./result-writer.ts";
import type { SendingMetrics } from "./sending-metrics.ts";
import { SigningSecrets, type AttemptSecrets } from "./signing-secrets.ts";
import { CROWDED_SHARE, SlowReceivers } from "./slow-receivers.ts";

/** Retries come due without a notification, and a notification may be lost with its connection. */
const POLL_MS = 500;
const RETRY_MS = 1_000;
/** Wait at a stop: a claim takes milliseconds unless the database does not respond. */
const CLAIM_STOP_MS = 2_000;
/** The share of attempts in flight that failing receivers may occupy, however many hang. */
const FAILING_SHARE = 0.5;

/** Intake waits this long for room at most. */
const ROOM_WAIT_MS = 1_000;
/** An attempt in flight for longer may be to a receiver that hangs. */
const SOON_MS = 250;
/** The share of such attempts up to which it is worth waiting for the others. */
const OLD_SHARE = 0.25;

type Sendable = ClaimedDelivery & {
  readonly brand_id: string;
  /** Undefined for a test of a next secret that no longer exists. */
  readonly secrets: AttemptSecrets | undefined;
};

export interface SenderOptions {
  readonly db: Database;
  readonly keys: SecretKeys;
  readonly agent: ReceiverAgent;
  readonly metrics: SendingMetrics;
  readonly log: Logger;
  /** Attempts in flight in this process. */
  readonly inFlightMax: number;
  readonly deadlineMs: number;
  readonly retryDelaysSeconds: readonly number[];
  readonly publicUrl: string;
  readonly headerWord: string;
  /** Time after which secrets that did not open are looked at again. Default: 10,000. */
  readonly recheckMs?: number;
}

const newAttemptId = idSequence("att");

/** Claims due deliveries, or is given them by intake, posts them and writes the results, until it is stopped. Any number of processes share the work. */
export class Sender implements FirstAttempts, Pacer {
  readonly #options: SenderOptions;
  readonly #results: ResultWriter;
  readonly #secrets: SigningSecrets;
  readonly #slow: SlowReceivers;
  readonly #stopping = new AbortController();
  /** Claimed deliveries whose result is not written yet. */
  #inFlight = 0;
  /** Those among them to receivers whose last attempt failed. */
  #failing = 0;
  /** Room that is taken for attempts whose leases are not committed yet, by intake or by a claim. */
  #reserved = 0;
  /** Room that is kept free for batches of intake that have not taken theirs yet. */
  #promised = 0;
  /** Resolved when an attempt ends, if intake waits for that. */
  #ended: PromiseWithResolvers<void> | undefined;
  /** Deliveries leased to this process that it does not send, and that could not be returned yet. */
  readonly #toReturn: ClaimedDelivery[] = [];
  #returning: Promise<void> | undefined;
  readonly #attempts = new Set<Promise<AttemptResult>>();
  #stopped = false;
  readonly #running: Promise<void>;
  readonly #wake = new WakeSignal();

  constructor(options: SenderOptions) {
    this.#options = options;
    this.#results = new ResultWriter(options.db, options.metrics, options.log);
    this.#secrets = new SigningSecrets(options);
    this.#slow = new SlowReceivers(options.inFlightMax);
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

  get leaseSeconds(): number {
    return leaseSecondsFor(this.#options.deadlineMs);
  }

  get eventsMax(): number {
    return Math.max(1, Math.floor((this.#options.inFlightMax * CROWDED_SHARE) / 2));
  }

  async untilRoom(wanted: number): Promise<() => void> {
    const until = performance.now() + ROOM_WAIT_MS;
    for (let now = performance.now(); !this.#hasRoom(wanted) && now < until && this.#endsSoon(now); now = performance.now()) {
      this.#ended ??= Promise.withResolvers<void>();
      await withTimeout(this.#ended.promise, until - now);
    }
    this.#promised += wanted;
    return () => {
      this.#promised -= wanted;
      this.#resolveEnded();
    };
  }

  #hasRoom(wanted: number): boolean {
    if (this.#stopping.signal.aborted) return true;
    return this.#inFlight + this.#reserved + this.#promised + wanted <= this.#options.inFlightMax * CROWDED_SHARE;
  }

  /** Whether few attempts have been in flight for long. */
  #endsSoon(now: number): boolean {
    return this.#slow.countOlder(SOON_MS, now) <= (this.#inFlight + this.#promised) * OLD_SHARE;
  }

  #resolveEnded(): void {
    this.#ended?.resolve();
    this.#ended = undefined;
  }

  reservation(): Reservation {
    if (this.#stopping.signal.aborted) return () => 0;
    const shares = this.#slow.shares(this.#room(), performance.now());
    let left = shares.max;
    return ({ id, secret_key_id, next_secret_key_id }, wanted) => {
      if (this.#secrets.excludes(id, [secret_key_id, next_secret_key_id])) return 0;
      const taken = shares.take(id, Math.min(wanted, left));
      left -= taken;
      this.#reserved += taken;
      return taken;
    };
  }

  release(reserved: readonly Reserved[]): void {
    this.#reserved -= reserved.length;
    if (reserved.length > 0) this.#wake.notify();
  }

  send(deliveries: readonly ClaimedDelivery[]): void {
    this.#reserved -= deliveries.length;
    // Nothing would wait for these attempts, nor write their results.
    if (this.#stopped) this.#toReturn.push(...deliveries);
    else this.#startAll(deliveries);
    this.#beginReturn();
  }

  reconcile(deliveries: readonly ClaimedDelivery[]): void {
    this.#toReturn.push(...deliveries);
    this.release(deliveries);
    this.#beginReturn();
  }

  #room(): number {
    return this.#options.inFlightMax - this.#inFlight - this.#reserved;
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
    const returned = this.#returnClaims().catch((error: unknown) => this.#logNotReturned(error, this.#toReturn));
    await withTimeout(Promise.all([returned, this.#secrets.stop()]), CLAIM_STOP_MS);
    await Promise.all(this.#attempts);
    await this.#results.stop();
  }

  async #run(): Promise<void> {
    const { log } = this.#options;
    while (!this.#stopping.signal.aborted) {
      this.#wake.reset();
      this.#beginReturn();
      const room = this.#room();
      let claimed = 0;
      try {
        if (room > 0) claimed = await this.#claim(room);
      } catch (error) {
        log.warn({ err: error }, "deliveries cannot be claimed");
        await pause(RETRY_MS, undefined, { signal: this.#stopping.signal }).catch(() => {});
      }
      if (claimed === 0) await this.#wake.wait(POLL_MS);
    }
  }

  async #claim(room: number): Promise<number> {
    const { db, deadlineMs, inFlightMax, metrics } = this.#options;
    const shares = this.#slow.shares(room, performance.now());
    const taking = this.#taking();
    const claimed = await claimDeliveries(db, {
      max: shares.max,
      except: withReceivers(this.#secrets.exclusions, shares.exceptIds()),
      takes: taking.begin,
      leaseSeconds: leaseSecondsFor(deadlineMs),
      onSlow: (lanes) => this.#reportSlow(lanes),
      failing: this.#failing < inFlightMax * FAILING_SHARE,
    }).finally(taking.end);
    if (this.#stopped && claimed.length > 0) {
      await returnClaims(db, claimed).catch((error: unknown) => this.#logNotReturned(error, claimed));
      return 0;
    }
    const toReturnBefore = this.#toReturn.length;
    const unsendable = this.#startAll(claimed);
    const returned = this.#toReturn.length - toReturnBefore;
    this.#beginReturn();
    if (unsendable.length > 0) {
      await abandonDeliveries(db, unsendable);
      metrics.finished.inc({ state: "removed" }, unsendable.length);
    }
    // Those that it remembers it does not claim again. Otherwise it pauses, or it would claim and return the same ones all the time.
    return this.#secrets.isFull ? claimed.length - returned : claimed.length;
  }

  /** What the tries of a claim take. It counts as reserved, or intake would lease as many again before the claim is committed. */
  #taking(): { begin(): { take(receiverId: string, wanted: number): number }; end(): void } {
    let reserved = 0;
    const end = (): void => {
      this.#reserved -= reserved;
      reserved = 0;
    };
    const begin = (): { take(receiverId: string, wanted: number): number } => {
      end();
      const shares = this.#slow.shares(this.#room(), performance.now());
      return {
        take: (receiverId, wanted) => {
          const taken = shares.take(receiverId, wanted);
          reserved += taken;
          this.#reserved += taken;
          return taken;
        },
      };
    };
    return { begin, end };
  }

  /**
   * Starts the attempts of deliveries that are leased to this process. Those that only another process can send are returned later.
   *
   * @returns those that no process can send
   */
  #startAll(deliveries: readonly ClaimedDelivery[]): ClaimedDelivery[] {
    const unsendable: ClaimedDelivery[] = [];
    for (const delivery of deliveries) {
      const { brand_id } = delivery;
      if (brand_id === null) unsendable.push(delivery);
      else if (lacksNextSecret(delivery)) this.#start({ ...delivery, brand_id, secrets: undefined });
      else {
        const secrets = this.#secrets.open(delivery);
        if (secrets === undefined) this.#toReturn.push(delivery);
        else this.#start({ ...delivery, brand_id, secrets });
      }
    }
    return unsendable;
  }

  /**
   * Begins to return claims, unless it is under way. No claim waits for it: a lost connection of intake keeps its lanes locked until the
   * server has noticed. If it fails, the loop tries again.
   */
  #beginReturn(): void {
    if (this.#toReturn.length === 0 || this.#returning !== undefined) return;
    this.#returnClaims().catch((error: unknown) => this.#logNotReturned(error, this.#toReturn));
  }

  /** Makes pending what only another process can send, or what intake lost sight of. The attempt does not count. */
  #returnClaims(): Promise<void> {
    this.#returning ??= this.#returnAll().finally(() => void (this.#returning = undefined));
    return this.#returning;
  }

  async #returnAll(): Promise<void> {
    while (this.#toReturn.length > 0) {
      const returned = [...this.#toReturn];
      await returnClaims(this.#options.db, returned);
      this.#toReturn.splice(0, returned.length);
    }
    // This process may be the one that can send them. If it cannot remember which ones it cannot send, it looks at the next poll.
    if (!this.#secrets.isFull) this.#wake.notify();
  }

  #reportSlow(lanes: number): void {
    const { metrics, log } = this.#options;
    metrics.slowClaims.inc();
    log.warn({ lanes }, "claim given up: it took too long");
  }

  #logNotReturned(error: unknown, claims: readonly ClaimedDelivery[]): void {
    this.#options.log.warn(
      { err: error, deliveries: claims.length },
      "claims not returned: the deliveries continue when their leases expire",
    );
  }

  #start(delivery: Sendable): void {
    this.#inFlight += 1;
    if (delivery.failing) this.#failing += 1;
    const tracked = this.#slow.start(delivery.receiver_id, performance.now());
    const attempt = this.#send(delivery);
    this.#attempts.add(attempt);
    void attempt
      .then((result) => {
        this.#attempts.delete(attempt);
        this.#slow.end(tracked, performance.now());
        return this.#results.write(result);
      })
      .finally(() => {
        this.#inFlight -= 1;
        if (delivery.failing) this.#failing -= 1;
        this.#resolveEnded();
        // The lane has room again.
        this.#wake.notify();
      });
  }

  async #send(delivery: Sendable): Promise<AttemptResult> {
    const { metrics, log, retryDelaysSeconds } = this.#options;
    const startedAt = new Date();
    const started = performance.now();
    if (isFirst(delivery)) metrics.delay.observe(Math.max(0, startedAt.getTime() - Date.parse(delivery.event_created_at)) / 1_000);
    const span = startAttemptSpan(delivery);
    const outcome = await this.#attempt(delivery, startedAt);
    endAttemptSpan(span, outcome);
    const duration_ms = Math.round(performance.now() - started);
    const next = nextState(outcome, delivery.attempt, Math.random(), retryDelaysSeconds);
    metrics.attempts.inc({ outcome: outcome.kind });
    metrics.duration.observe(duration_ms / 1_000);
    const { id, event_id, receiver_id, brand_id, attempt, traceparent } = delivery;
    const trace = traceparent === null ? {} : traceFields(span?.traceparent ?? traceparent);
    const fields = { outcome: outcome.kind, http_status: outcome.httpStatus, ...(outcome.error !== null && { error: outcome.error }) };
    const retry = next.state === "pending" ? { retry_in_seconds: Math.round(next.delaySeconds) } : {};
    log.info(
      { delivery_id: id, event_id, receiver_id, brand_id, attempt, ...trace, ...fields, duration_ms, next_state: next.state, ...retry },
      "delivery attempted",
    );
    return resultOf(delivery, outcome, next, startedAt, duration_ms);
  }

  /** The timestamp is that of the recorded start, so that a request can be shown as it was sent. */
  async #attempt(delivery: Sendable, startedAt: Date): Promise<Outcome> {
    const { agent, deadlineMs, publicUrl, headerWord } = this.#options;
    const { secrets } = delivery;
    if (secrets === undefined) return unsendable("there is no next secret any more to sign it with");
    const body = eventBody(delivery, publicUrl);
    const signed = {
      eventId: delivery.event_id,
      eventType: delivery.type,
      body,
      timestampSeconds: Math.floor(startedAt.getTime() / 1_000),
      attempt: delivery.attempt,
      keys: secrets,
      headerWord,
    };
    const headers = { ...unsignedHeaders(signed, delivery.traceparent), ...signatureHeaders(signed) };
    return attemptPost(agent, { url: delivery.url, headers, body, deadlineMs });
  }
}

/** Returns undefined if nothing is excluded: that claim is the cheapest. */
function withReceivers(exclusions: LaneExclusions | undefined, receiverIds: readonly string[]): LaneExclusions | undefined {
  if (receiverIds.length === 0) return exclusions;
  return { secretKeyIds: exclusions?.secretKeyIds ?? [], receiverIds: [...(exclusions?.receiverIds ?? []), ...receiverIds] };
}

/** Whether the start of its attempt shows how late this service is: replays and retries are late on purpose. */
const isFirst = ({ attempt, from_intake, failing }: ClaimedDelivery): boolean => attempt === 1 && from_intake && !failing;

/** A test of a secret that was activated or withdrawn since. No process can send it, now or later. */
const lacksNextSecret = ({ sign_with_next, next_secret }: ClaimedDelivery): boolean => sign_with_next && next_secret === null;

const unsendable = (error: string): Outcome => ({
  kind: "unsendable",
  httpStatus: null,
  error,
  response: null,
  retryAfterSeconds: null,
});

function resultOf(delivery: Sendable, outcome: Outcome, next: NextState, startedAt: Date, duration_ms: number): AttemptResult {
  return {
    delivery_id: delivery.id,
    lease: delivery.lease,
    brand_id: delivery.brand_id,
    receiver_id: delivery.receiver_id,
    event_id: delivery.event_id,
    event_created_at: delivery.event_created_at,
    url: delivery.url,
    delivery_created_at: delivery.created_at,
    test: delivery.test,
    tested_secret: delivery.sign_with_next ? delivery.next_secret : null,
    attempt_id: newAttemptId(),
    attempt: delivery.attempt,
    started_at: startedAt.toISOString(),
    duration_ms,
    outcome: outcome.kind,
    http_status: outcome.httpStatus,
    error: outcome.error,
    response: outcome.response,
    state: next.state,
    delay_seconds: next.state === "pending" ? next.delaySeconds : null,
  };
}
