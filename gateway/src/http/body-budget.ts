import { AppError } from "@brand-records/errors";
import { Counter, Gauge, type Registry } from "@brand-records/telemetry";

/** Bytes of all bodies being read in this process. */
const TOTAL_BYTES_MAX = 64 * 1024 * 1024;
/** Bytes of one brand's bodies: ten of the largest. One brand's slow senders leave room for the other brands. */
const BRAND_BYTES_MAX = 8 * 1024 * 1024;
const RETRY_AFTER_SECONDS = 1;

/** The memory of one body while it is read. */
export interface BodyReservation {
  /** @throws AppError `unavailable` if the process or the brand holds too much already */
  add(bytes: number): void;
  /** May be called any number of times. */
  release(): void;
}

/** Bounds the memory of request bodies in this process. Counts bytes that have arrived, never announced ones. */
export class BodyBudget {
  readonly #byBrand = new Map<string, number>();
  #total = 0;
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

  open(brandId: string): BodyReservation {
    let held = 0;
    return {
      add: (bytes) => {
        const brandBytes = this.#byBrand.get(brandId) ?? 0;
        if (this.#total + bytes > TOTAL_BYTES_MAX || brandBytes + bytes > BRAND_BYTES_MAX) {
          this.#refused.inc();
          throw new AppError("unavailable", "Too many large bodies are being read at the same time. Send the request again.", {
            retryAfterSeconds: RETRY_AFTER_SECONDS,
          });
        }
        held += bytes;
        this.#change(brandId, bytes);
      },
      release: () => {
        this.#change(brandId, -held);
        held = 0;
      },
    };
  }

  #change(brandId: string, bytes: number): void {
    this.#total += bytes;
    this.#held.set(this.#total);
    const brandBytes = (this.#byBrand.get(brandId) ?? 0) + bytes;
    if (brandBytes === 0) this.#byBrand.delete(brandId);
    else this.#byBrand.set(brandId, brandBytes);
  }
}
