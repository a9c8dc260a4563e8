import type { Clock } from "@brand-records/lifecycle";
import type { Database } from "@brand-records/postgres";
import type { Logger } from "@brand-records/telemetry";
import type { GrantKeys } from "./domain/grant-keys.ts";
import type { Pepper } from "./domain/key.ts";
import type { SessionLimits } from "./domain/session.ts";
import type { EpochPublisher } from "./epochs/epoch-publisher.ts";
import type { Identify } from "./id-tokens/identify.ts";

/** What the handlers and use cases work with. */
export interface AccountsDependencies {
  readonly db: Database;
  /** The database's. */
  readonly clock: Clock;
  readonly epochs: EpochPublisher;
  /** Newest first. */
  readonly peppers: readonly [Pepper, ...Pepper[]];
  /** They derive from the same peppers. */
  readonly grantKeys: GrantKeys;
  readonly environment: "live" | "test";
  readonly sessionLimits: SessionLimits;
  /** How many a brand has at most: keys that are not revoked, and members. */
  readonly limits: { readonly keys: number; readonly members: number };
  /** Days for which usage is kept. */
  readonly usageKeepDays: number;
  /** Hours for which requests are kept; 0: none are. */
  readonly requestsKeepHours: number;
  /** Whether there is a mail server. */
  readonly sendsMail: boolean;
  /** Verifies the ID tokens of the OpenID provider. */
  readonly identify: Identify;
  readonly log: Logger;
  /** Records that a key was verified just now. */
  recordKeyUse(keyId: string): void;
  /** Counts a try to sign in. @param outcome `done`, or the kind of the refusal */
  countSignIn(by: "link" | "provider", outcome: string): void;
  /** Whether a key that this process does not find may be stored nevertheless, under a pepper that it lacks. */
  mayMissKeys(): boolean;
}
