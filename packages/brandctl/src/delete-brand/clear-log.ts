import { setTimeout as pause } from "node:timers/promises";
import { AppError } from "@brand-records/errors";
import type { TrimLogResponse } from "@brand-records/proto/webhook/v1";
import type { Deleting } from "./delete-everywhere.ts";

const POLL_MS = 500;
/** How long readers of the log may take to read what is in it, a replay of dead letters to end, and the log to be available. */
const WAIT_MS_MAX = 60_000;

export interface ClearedLog {
  readonly cleared: boolean;
  readonly dead_letters: number;
  /** Groups of readers that keep messages in the log. */
  readonly behind: readonly { readonly group: string; readonly messages: number }[];
  readonly refused?: string;
  /** When the log's retention has removed the messages. */
  readonly kept_until?: string;
}

/** Removes what names the brand from the event log: its messages with all others that every reader has read, and its dead letters. */
export async function clearLog(deleting: Deleting, { keepLog }: { readonly keepLog: boolean }): Promise<ClearedLog> {
  const { clients, brandId, status } = deleting;
  status.show("Removing messages from the event log");
  const trimmed = keepLog ? undefined : await trim(deleting);
  const letters: { readonly removed: number; readonly refused?: string } = await patiently(deleting, () =>
    clients.webhook.removeDeadLetters({ brand_id: brandId }),
  ).catch(refusalOf);
  const behind = trimmed?.behind.map(({ group, messages }) => ({ group, messages })) ?? [];
  const refused = trimmed?.refused ?? letters.refused;
  return {
    cleared: trimmed?.done === true && letters.refused === undefined,
    dead_letters: letters.removed,
    behind,
    ...(refused != null && { refused }),
    ...(trimmed?.kept_until != null && { kept_until: trimmed.kept_until }),
  };
}

/** Kafka's word, if it refuses to remove dead letters. */
function refusalOf(error: unknown): { readonly removed: number; readonly refused?: string } {
  if (error instanceof AppError && error.kind === "permission_required") return { removed: 0, refused: error.message };
  throw error;
}

async function trim(deleting: Deleting): Promise<TrimLogResponse> {
  const { clients, signal } = deleting;
  const endsAt = performance.now() + WAIT_MS_MAX;
  const end = await patiently(deleting, () => clients.webhook.trimLog({ up_to: [] }));
  if (end.done) return end;
  for (;;) {
    const trimmed = await patiently(deleting, () => clients.webhook.trimLog({ up_to: end.up_to }));
    if (trimmed.done || trimmed.refused != null || performance.now() > endsAt) return trimmed;
    await pause(POLL_MS, undefined, { signal });
  }
}

/** Repeats a call while the log is unavailable, or dead letters are replayed. */
async function patiently<T>({ signal }: Deleting, call: () => Promise<T>): Promise<T> {
  const endsAt = performance.now() + WAIT_MS_MAX;
  for (;;) {
    try {
      return await call();
    } catch (error) {
      const mayPass = error instanceof AppError && (error.kind === "request_conflict" || error.kind === "unavailable");
      if (!mayPass || performance.now() > endsAt) throw error;
      await pause(POLL_MS, undefined, { signal });
    }
  }
}
