import { setTimeout as pause } from "node:timers/promises";
import type { Deleters } from "../connection/clients.ts";
import { CommandFailure } from "../failure.ts";
import { counted } from "../output/format.ts";
import type { StatusLine } from "../output/status-line.ts";

/** Between two calls while there is nothing to do but wait. */
const POLL_MS = 500;
/** Rounds that each find something new. The second may: requests from before the deletion. Later ones find what is still written. */
const ROUNDS_MAX = 5;

export interface Deleting {
  readonly brandId: string;
  readonly clients: Deleters;
  readonly status: StatusLine;
  /** Ctrl-C. */
  readonly signal: AbortSignal;
  /** Rows deleted so far, by kind. */
  readonly rows: Map<string, number>;
}

interface CallResult {
  readonly deleted: readonly { readonly kind: string; readonly rows: number }[];
  readonly done: boolean;
  readonly waiting_for?: string | null | undefined;
}

/**
 * Deletes the brand in webhook, plans and records until a round that began after the deletion settled finds nothing.
 *
 * @param settledAt milliseconds of `performance.now`: until then, requests from before the deletion may still write
 * @throws CommandFailure `still_written`
 */
export async function deleteEverywhere(deleting: Deleting, settledAt: number): Promise<void> {
  await deleteOnce(deleting);
  await untilSettled(deleting, settledAt);
  for (let round = 1; round <= ROUNDS_MAX; round += 1) if ((await deleteOnce(deleting)) === 0) return;
  throw new CommandFailure("still_written", "The platform still writes records of this brand, or imports them: it stops first.", {
    hint: `then continue with brandctl brands delete ${deleting.brandId}`,
  });
}

/** Webhook first: nothing more is sent to the brand's receivers from its first call on. */
async function deleteOnce(deleting: Deleting): Promise<number> {
  const { brandId: brand_id, clients } = deleting;
  let rows = 0;
  for (const service of ["webhook", "plans", "records"] as const) {
    rows += await untilDone(deleting, service, () => clients[service].deleteBrandData({ brand_id }));
  }
  return rows;
}

/** Repeats a call until it is done. Returns how many rows it deleted. */
export async function untilDone({ status, signal, rows }: Deleting, where: string, call: () => Promise<CallResult>): Promise<number> {
  let total = 0;
  for (;;) {
    const { deleted, done, waiting_for: waitingFor } = await call();
    for (const { kind, rows: count } of deleted) rows.set(kind, (rows.get(kind) ?? 0) + count);
    const count = deleted.reduce((sum, each) => sum + each.rows, 0);
    total += count;
    if (done) return total;
    status.show(`Deleting in ${where}: ${counted(total, "row")}${waitingFor == null ? "" : `; waiting for ${waitingFor}`}`);
    if (count === 0) await pause(POLL_MS, undefined, { signal });
  }
}

async function untilSettled({ status, signal }: Deleting, settledAt: number): Promise<void> {
  for (let leftMs = settledAt - performance.now(); leftMs > 0; leftMs = settledAt - performance.now()) {
    status.show(`Waiting ${Math.ceil(leftMs / 1_000)} s for requests and attempts from before the deletion to end`);
    await pause(Math.min(leftMs, 1_000), undefined, { signal });
  }
}
