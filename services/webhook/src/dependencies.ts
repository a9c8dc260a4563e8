import type { DeadLetters, StoredMessages } from "@brand-records/event-log";
import type { Database } from "@brand-records/postgres";
import type { AuditOutbox } from "@brand-records/service-runtime";
import type { UrlRules } from "./domain/receiver-url.ts";
import type { SecretKeys } from "./domain/secret-keys.ts";
import type { KnownBrands } from "./known-brands.ts";
import type { ReplayWorker } from "./replaying/replay-worker.ts";
import type { ChunkOptions } from "./storage/pending-deliveries.ts";

/** What the handlers and use cases work with. */
export interface WebhookDependencies extends UrlRules {
  readonly db: Database;
  readonly keys: SecretKeys;
  readonly brands: Pick<KnownBrands, "isKnown">;
  readonly deadLetters: DeadLetters;
  /** What the log keeps of the messages that intake has read. */
  readonly messages: StoredMessages;
  readonly audit: Pick<AuditOutbox, "record" | "erase">;
  /** Time for a whole attempt. */
  readonly deadlineMs: number;
  /** What deliveries are made with: their `dashboard_url` and the names of their headers. */
  readonly publicUrl: string;
  readonly headerWord: string;
  /** Woken by each new replay. Without it, a worker finds the replay within a second. */
  readonly replaying?: Pick<ReplayWorker, "wake">;
  /** Called when a member has disabled a receiver. */
  readonly onDisabled?: () => void;
  /** How work on many rows goes on. */
  readonly chunks?: ChunkOptions;
}
