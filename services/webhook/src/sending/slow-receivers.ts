/** An attempt that takes this long makes its receiver slow. */
export const SLOW_MS = 2_000;
/** The part of the attempts in flight that slow receivers may occupy, all of them together. */
const SLOW_PART = 0.25;
/** A process is crowded with more of its attempts in flight than this part. */
export const CROWDED_PART = 0.5;
/** The part of the room left that each receiver gets in a crowded process, whatever it has completed. */
const UNPROVEN_PART = 1 / 64;
/** Receivers with nothing in flight that are remembered. What is forgotten of one shows again with its next attempts. */
const IDLE_MAX = 1_000;

export interface TrackedAttempt {
  readonly receiverId: string;
  readonly startedAt: number;
  /** Attempts of the receiver that had ended when this one started. */
  readonly endedBefore: number;
}

interface Receiver {
  /** Attempts in flight, the oldest first. */
  readonly attempts: Set<TrackedAttempt>;
  ended: number;
  /** The attempt that ended last took `SLOW_MS` or longer. */
  endedSlowly: boolean;
  /**
   * The most attempts that ended while one was in flight, less one for each attempt that ended since. Attempts that start together end
   * together: what has ended since the oldest started is nothing at times.
   */
  provenWidth: number;
}

/**
 * Measures each receiver's attempts in this process, and decides how many it may have in flight, so that receivers that hang leave room
 * for the others:
 *
 * | Receiver | up to half of the attempts in flight | beyond: the process is crowded             |
 * | -------- | ------------------------------------ | ------------------------------------------ |
 * | quick    | no limit                             | its width                                  |
 * | slow     | its part of a quarter                | the smaller of its part and its width      |
 *
 * A receiver becomes slow when an attempt has been in flight for two seconds, and quick when its oldest attempt is younger than that and
 * the last one that ended took less.
 *
 * Its width is what it has proved to complete (`provenWidth`, or twice what it completed since its oldest attempt started), and a 64th of
 * the room left. So a quick receiver keeps its width and doubles it with each round; one that begins to hang completes nothing and does not
 * grow, before anything shows that it is slow. Without the width, 16 receivers that began to hang filled a process within two seconds.
 *
 * Times are milliseconds of a clock that never goes back.
 */
export class SlowReceivers {
  readonly #inFlightMax: number;
  readonly #receivers = new Map<string, Receiver>();
  /** Ids of those with nothing in flight, the longest idle first. */
  readonly #idle = new Set<string>();

  constructor(inFlightMax: number) {
    this.#inFlightMax = inFlightMax;
  }

  /** Call it when an attempt starts; give what it returns to `end`. */
  start(receiverId: string, now: number): TrackedAttempt {
    let receiver = this.#receivers.get(receiverId);
    if (receiver === undefined) {
      receiver = { attempts: new Set(), ended: 0, endedSlowly: false, provenWidth: 0 };
      this.#receivers.set(receiverId, receiver);
    }
    this.#idle.delete(receiverId);
    const attempt = { receiverId, startedAt: now, endedBefore: receiver.ended };
    receiver.attempts.add(attempt);
    return attempt;
  }

  end(attempt: TrackedAttempt, now: number): void {
    const { receiverId } = attempt;
    const receiver = this.#receivers.get(receiverId);
    if (receiver?.attempts.delete(attempt) !== true) return;
    receiver.ended += 1;
    receiver.endedSlowly = now - attempt.startedAt >= SLOW_MS;
    receiver.provenWidth = receiver.endedSlowly ? 0 : Math.max(receiver.ended - attempt.endedBefore, receiver.provenWidth - 1);
    if (receiver.attempts.size === 0) this.#remember(receiverId);
  }

  isSlow(receiverId: string, now: number): boolean {
    const receiver = this.#receivers.get(receiverId);
    return receiver !== undefined && isSlow(receiver, now);
  }

  /** How many attempts have been in flight for this long. */
  countOlder(ageMs: number, now: number): number {
    let count = 0;
    for (const { attempts } of this.#receivers.values()) {
      // The oldest come first.
      for (const { startedAt } of attempts) {
        if (now - startedAt < ageMs) break;
        count += 1;
      }
    }
    return count;
  }

  /** @param room attempts that may start in this process */
  allowance(room: number, now: number): Allowance {
    return new Allowance(this.#receivers, { inFlightMax: this.#inFlightMax, room, now });
  }

  #remember(receiverId: string): void {
    this.#idle.add(receiverId);
    if (this.#idle.size <= IDLE_MAX) return;
    for (const oldest of this.#idle) {
      this.#idle.delete(oldest);
      this.#receivers.delete(oldest);
      return;
    }
  }
}

/** What may start at one moment, by receiver. What is taken of it counts as started. */
export class Allowance {
  /** Deliveries to claim: before the process is crowded, no more than until it is. */
  readonly max: number;
  readonly #receivers: ReadonlyMap<string, Receiver>;
  readonly #room: number;
  readonly #now: number;
  readonly #isCrowded: boolean;
  readonly #slowMax: number;
  #slowReceivers = 0;
  #slowRoom: number;
  readonly #taken = new Map<string, number>();

  constructor(receivers: ReadonlyMap<string, Receiver>, { inFlightMax, room, now }: { inFlightMax: number; room: number; now: number }) {
    const untilCrowded = Math.ceil(room - inFlightMax * (1 - CROWDED_PART));
    this.#receivers = receivers;
    this.#room = room;
    this.#now = now;
    this.#isCrowded = untilCrowded <= 0;
    this.max = this.#isCrowded ? room : untilCrowded;
    this.#slowMax = Math.max(1, Math.floor(inFlightMax * SLOW_PART));
    this.#slowRoom = this.#slowMax;
    for (const receiver of receivers.values()) {
      if (receiver.attempts.size === 0 || !isSlow(receiver, now)) continue;
      this.#slowReceivers += 1;
      this.#slowRoom -= receiver.attempts.size;
    }
  }

  exceptIds(): string[] {
    if (!this.#isCrowded && this.#slowReceivers === 0) return [];
    return [...this.#receivers.keys()].filter((receiverId) => this.#roomOf(receiverId) < 1);
  }

  /** Returns how many attempts of a receiver may start, `wanted` at most. */
  take(receiverId: string, wanted: number): number {
    const taken = Math.max(0, Math.min(wanted, this.#roomOf(receiverId)));
    this.#taken.set(receiverId, (this.#taken.get(receiverId) ?? 0) + taken);
    const receiver = this.#receivers.get(receiverId);
    if (receiver !== undefined && isSlow(receiver, this.#now)) this.#slowRoom -= taken;
    return taken;
  }

  #roomOf(receiverId: string): number {
    const receiver = this.#receivers.get(receiverId);
    const inFlight = (receiver?.attempts.size ?? 0) + (this.#taken.get(receiverId) ?? 0);
    const width = this.#isCrowded ? widthOf(receiver, this.#room) : Number.POSITIVE_INFINITY;
    if (receiver === undefined || !isSlow(receiver, this.#now)) return width - inFlight;
    return Math.min(this.#slowRoom, Math.min(width, this.#slowPart(receiver)) - inFlight);
  }

  /** Slow receivers with something in flight share the room for slow ones; one with nothing in flight joins them. */
  #slowPart({ attempts }: Receiver): number {
    const receivers = this.#slowReceivers + (attempts.size === 0 ? 1 : 0);
    return Math.max(1, Math.floor(this.#slowMax / receivers));
  }
}

function isSlow({ attempts, endedSlowly }: Receiver, now: number): boolean {
  const oldest = oldestOf(attempts);
  return endedSlowly || (oldest !== undefined && now - oldest.startedAt >= SLOW_MS);
}

/** The width of a receiver: the attempts that it may have in flight in a crowded process. */
function widthOf(receiver: Receiver | undefined, room: number): number {
  const unproven = Math.max(1, Math.floor(room * UNPROVEN_PART));
  if (receiver === undefined) return unproven;
  const oldest = oldestOf(receiver.attempts);
  const endedSince = oldest === undefined ? 0 : receiver.ended - oldest.endedBefore;
  return unproven + Math.max(receiver.provenWidth, 2 * endedSince);
}

/** A set keeps the order of insertion. */
function oldestOf(attempts: ReadonlySet<TrackedAttempt>): TrackedAttempt | undefined {
  for (const attempt of attempts) return attempt;
  return undefined;
}
