import { AppError, type ErrorKind } from "@brand-records/errors";
import { Counter, Gauge, type Registry } from "@brand-records/telemetry";

const MIB = 1024 * 1024;

interface Limit {
  /** Bytes of all bodies in this process. */
  readonly totalBytesMax: number;
  /** Bytes of one sender's: ten of the largest bodies, or two. Slow senders leave room for the others. */
  readonly senderBytesMax: number;
  /** The error for a sender that holds too much itself. */
  readonly refusal: ErrorKind;
  /** Whether the body that has been arriving for the longest time makes room for another. Else the other one is refused. */
  readonly evicts: boolean;
}

/**
 * Senders are brands, which have shown a key, and the networks of the console's visitors, who have shown nothing yet. These never take from
 * those. Anyone can send bodies that never end, but not in a hurry: bodies of people arrive at once, so the oldest is the one to give up.
 */
const LIMITS = {
  brand: { totalBytesMax: 64 * MIB, senderBytesMax: 8 * MIB, refusal: "unavailable", evicts: false },
  network: { totalBytesMax: 16 * MIB, senderBytesMax: 2 * MIB, refusal: "rate_limited", evicts: true },
} as const satisfies Record<string, Limit>;
export type SenderKind = keyof typeof LIMITS;

const RETRY_AFTER_SECONDS = 1;

/** The memory of one body. */
export interface BodyReservation {
  /** @throws AppError `unavailable` or `rate_limited` if the process or the sender holds too much already */
  add(bytes: number): void;
  /** The body has arrived: it makes room for no other any more. */
  complete(): void;
  /** May be called any number of times. */
  release(): void;
}

/** Bounds the memory of request bodies in this process. Counts bytes that have arrived, never announced ones. */
export class BodyBudget {
  readonly #bySender = new Map<string, number>();
  readonly #totals: Record<SenderKind, number> = { brand: 0, network: 0 };
  /** Bodies that are arriving, the oldest first. */
  readonly #arriving: Record<SenderKind, Set<() => void>> = { brand: new Set(), network: new Set() };
  readonly #held: Gauge;
  readonly #refused: Counter;

  constructor(metrics: Registry) {
    this.#held = new Gauge({
      name: "http_body_bytes",
      help: "Memory held by request bodies that are being read.",
      registers: [metrics],
    });
    this.#refused = new Counter({
      name: "http_bodies_refused_total",
      help: "Request bodies refused because the bodies being read held too much memory.",
      registers: [metrics],
    });
  }

  /** @param onEvicted called if this body has to make room for another */
  open(kind: SenderKind, sender: string, onEvicted: (error: AppError) => void): BodyReservation {
    const limit: Limit = LIMITS[kind];
    const key = `${kind} ${sender}`;
    let held = 0;
    const change = (bytes: number): void => {
      held += bytes;
      this.#change(kind, key, bytes);
    };
    const evict = (): void => {
      this.#arriving[kind].delete(evict);
      change(-held);
      onEvicted(this.#refusal("unavailable"));
    };
    this.#arriving[kind].add(evict);
    return {
      add: (bytes) => {
        if ((this.#bySender.get(key) ?? 0) + bytes > limit.senderBytesMax) throw this.#refusal(limit.refusal);
        while (this.#totals[kind] + bytes > limit.totalBytesMax) {
          const [oldest] = this.#arriving[kind];
          if (!limit.evicts || oldest === undefined || oldest === evict) throw this.#refusal("unavailable");
          oldest();
        }
        change(bytes);
      },
      complete: () => void this.#arriving[kind].delete(evict),
      release: () => {
        this.#arriving[kind].delete(evict);
        change(-held);
      },
    };
  }

  #refusal(kind: ErrorKind): AppError {
    this.#refused.inc();
    return new AppError(kind, "Too many large bodies are being read at the same time. Send the request again.", {
      retryAfterSeconds: RETRY_AFTER_SECONDS,
    });
  }

  #change(kind: SenderKind, key: string, bytes: number): void {
    this.#totals[kind] += bytes;
    this.#held.set(this.#totals.brand + this.#totals.network);
    const ofSender = (this.#bySender.get(key) ?? 0) + bytes;
    if (ofSender === 0) this.#bySender.delete(key);
    else this.#bySender.set(key, ofSender);
  }
}

const CAPACITY_MIN = 4 * 1024;

/**
 * Collects chunks in one buffer that doubles: stored separately, chunks of one byte would take about 200 bytes each. A single
 * chunk is not copied.
 */
export class GrowingBuffer {
  readonly #bytesMax: number;
  #bytes: Buffer = Buffer.alloc(0);
  #length = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** @param reserve called with the number of bytes before they are allocated; if it throws, the buffer does not change */
  append(chunk: Buffer, reserve: (bytes: number) => void): void {
    const length = this.#length + chunk.length;
    if (this.#length === 0) {
      reserve(chunk.length);
      this.#bytes = chunk;
    } else {
      if (length > this.#bytes.length) this.#grow(length, reserve);
      chunk.copy(this.#bytes, this.#length);
    }
    this.#length = length;
  }

  bytes(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  #grow(length: number, reserve: (bytes: number) => void): void {
    const capacity = Math.max(Math.min(Math.max(CAPACITY_MIN, 2 * this.#bytes.length), this.#bytesMax), length);
    reserve(capacity - this.#bytes.length);
    const grown = Buffer.allocUnsafeSlow(capacity);
    this.#bytes.copy(grown, 0, 0, this.#length);
    this.#bytes = grown;
  }
}
