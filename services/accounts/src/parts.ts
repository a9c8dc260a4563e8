import type { Database } from "@brand-records/postgres";
import type { Pepper } from "./domain/key-hash.ts";
import type { EpochPublisher } from "./epochs/epoch-publisher.ts";

/** What the use cases work with. */
export interface Parts {
  readonly db: Database;
  readonly epochs: EpochPublisher;
  /** Newest first. */
  readonly peppers: readonly [Pepper, ...Pepper[]];
  readonly environment: "live" | "test";
  /** Tells that a key was verified just now. */
  noteUse(keyId: string): void;
}
