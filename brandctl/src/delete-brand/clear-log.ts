import { setTimeout as pause } from "node:timers/promises";
import { AppError } from "@brand-records/errors";
import type { TrimLogResponse } from "@brand-records/proto/webhook/v1";
import { CommandFailure } from "../failure.ts";
import type { Deleting } from "./delete-everywhere.ts";

const POLL_MS = 500;
/** How long readers of the log may take to read what is in it, a replay of dead letters to end, and the log to be available. */
const WAIT_MS_MAX = 60_000;

export interface ClearedLog {
  /** Nothing in the log names the brand, as far as this run was to see to that. */
  readonly cleared: boolean;
  readonly dead_letters: number;
  /** Groups of readers that keep messages in the log. */
  readonly behind: readonly { readonly group: string; readonly messages: number }[];
  /** The messages are left as `--keep-log` asks. */
  readonly kept?: true;
  readonly refused?: string;
  /** What could not be reached of the log, in words; set with `--keep-log` only. */
  readonly unreachable?: string;
  /** When the log's retention has removed the messages. */
  readonly kept_until?: string;
}

export const LEFT_AS_IT_IS: ClearedLog = { cleared: true, dead_letters: 0, behind: [] };

/** Removes what names the brand from the event log: its messages with all others that every reader has read, and its dead letters. */
export async function clearLog(deleting: Deleting): Promise<ClearedLog> {
  deleting.status.show("Removing messages from the event log");
  const { done, behind, refused: trimRefused, kept_until } = await trim(deleting);
  const letters = await removeDeadLetters(deleting);
  const refused = trimRefused ?? letters.refused;
  return {
    cleared: done && letters.refused === undefined,
    dead_letters: letters.removed,
    behind: behind.map(({ group, messages }) => ({ group, messages })),
    ...(refused != null && { refused }),
    ...(!done && kept_until != null && { kept_until }),
  };
}

/** Leaves the messages in the log, which stores none without Kafka, and removes the dead letters. A log that is down does not matter. */
export async function keepLog(deleting: Deleting): Promise<ClearedLog> {
  const { clients, status } = deleting;
  status.show("Removing dead letters from the event log");
  try {
    const { done, kept_until } = await clients.webhook.trimLog({ up_to: [] });
    const { removed, refused } = await removeDeadLetters(deleting);
    if (done && refused === undefined) return { cleared: true, dead_letters: removed, behind: [] };
    return {
      cleared: false,
      dead_letters: removed,
      behind: [],
      ...(!done && { kept: true }),
      ...(refused !== undefined && { refused }),
      ...(kept_until != null && { kept_until }),
    };
  } catch (error) {
    if (!mayPass(error) && !isTimeout(error)) throw error;
    return { cleared: false, dead_letters: 0, behind: [], kept: true, unreachable: error.message };
  }
}

interface RemovedLetters {
  readonly removed: number;
  readonly refused?: string;
}

const removeDeadLetters = (deleting: Deleting): Promise<RemovedLetters> =>
  patiently(deleting, () => deleting.clients.webhook.removeDeadLetters({ brand_id: deleting.brandId })).catch(refusalOf);

/** Kafka's word, if it refuses to remove dead letters. */
function refusalOf(error: unknown): RemovedLetters {
  if (error instanceof AppError && error.kind === "permission_required") return { removed: 0, refused: error.message };
  throw error;
}

async function trim(deleting: Deleting): Promise<TrimLogResponse> {
  const { clients, signal, tell } = deleting;
  const endsAt = performance.now() + WAIT_MS_MAX;
  const end = await patiently(deleting, () => clients.webhook.trimLog({ up_to: [] }));
  if (end.done) return end;
  for (;;) {
    const trimmed = await patiently(deleting, () => clients.webhook.trimLog({ up_to: end.up_to }));
    if (trimmed.done || trimmed.refused != null || performance.now() > endsAt) return trimmed;
    tell("Waiting for the readers of the event log, at most a minute.");
    await pause(POLL_MS, undefined, { signal });
  }
}

/** Repeats a call while the log is unavailable, or dead letters are replayed. */
async function patiently<T>({ signal, tell }: Deleting, call: () => Promise<T>): Promise<T> {
  const endsAt = performance.now() + WAIT_MS_MAX;
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (!mayPass(error) || performance.now() > endsAt) throw error;
      tell(`Waiting for the event log, at most a minute: ${error.message}`);
      await pause(POLL_MS, undefined, { signal });
    }
  }
}

/** The service waits for the log longer than a call does. */
const isTimeout = (error: unknown): error is CommandFailure => error instanceof CommandFailure && error.code === "timeout";

const mayPass = (error: unknown): error is AppError =>
  error instanceof AppError && (error.kind === "request_conflict" || error.kind === "unavailable");
