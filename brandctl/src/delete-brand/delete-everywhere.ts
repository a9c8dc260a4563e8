import { setTimeout as pause } from "node:timers/promises";
import { counted } from "@brand-records/command-line";
import type { BeginBrandDeletionResponse } from "@brand-records/proto/accounts/v1";
import type { Client } from "../connection/clients.ts";
import { CommandFailure, restated } from "../failure.ts";
import { SERVICE_NAMES } from "../connection/endpoints.ts";
import type { Session } from "../session.ts";

/** Pause between two calls while there is nothing to do but wait. */
const POLL_MS = 500;
/** Rounds that each find something new once everything has settled. The first may find requests from before the deletion; later ones find what is still written. */
const FINDING_ROUNDS_MAX = 4;
/** Rounds in succession that find nothing, spread over the quiet time. */
const QUIET_ROUNDS = 6;

/** Opens what deletes a brand, by service. */
export const openDeleters = (session: Session) => ({
  accounts: session.client("accounts.operator"),
  plans: session.client("plans.operator"),
  /** In the brand's cell; in all of them once accounts has forgotten which one it was. */
  records: ({ finished, cell }: BeginBrandDeletionResponse) =>
    (finished ? [null, ...session.endpoints.cells().keys()] : [cell]).map((each) =>
      session.client("records.operator", undefined, session.endpoints.recordsIn(each)),
    ),
  webhook: session.client("webhook.operator"),
});

export interface Deleting {
  readonly brandId: string;
  readonly clients: ReturnType<typeof openDeleters>;
  readonly status: StatusLine;
  /** Says once what the command waits for, where there is no status line. */
  readonly tell: (text: string) => void;
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

type RecordsClient = Client<"records.operator">;

/** When the deletion may end, and where records are. */
interface Settling {
  readonly records: readonly RecordsClient[];
  /** Milliseconds of `performance.now`: until then, requests from before the deletion may still write. */
  readonly at: number;
  /** Time after that during which nothing may be found, in milliseconds. */
  readonly quietMs: number;
}

/**
 * Deletes the brand in webhook, plans and records until nothing is found for a while after the deletion settled.
 *
 * @returns how many rows it deleted
 * @throws CommandFailure `still_written`
 */
export async function deleteEverywhere(deleting: Deleting, { records, at, quietMs }: Settling): Promise<number> {
  let rows = await deleteOnce(deleting, records);
  await untilSettled(deleting, at);
  let [quiet, finding] = [0, 0];
  while (quiet < QUIET_ROUNDS) {
    const found = await deleteOnce(deleting, records);
    rows += found;
    quiet = found === 0 ? quiet + 1 : 0;
    if (found > 0) finding += 1;
    if (finding > FINDING_ROUNDS_MAX) throw stillWritten();
    deleting.status.show("Looking for records that are still written");
    if (quiet < QUIET_ROUNDS) await pause(quietMs / (QUIET_ROUNDS - 1), undefined, { signal: deleting.signal });
  }
  return rows;
}

const stillWritten = (): CommandFailure =>
  new CommandFailure(
    "still_written",
    "The platform still writes or imports records of this brand. Stop that, then delete the brand again.",
  );

/** Webhook first: nothing more is sent to the brand's receivers from its first call on. */
async function deleteOnce(deleting: Deleting, records: readonly RecordsClient[]): Promise<number> {
  const { brandId: brand_id, clients } = deleting;
  let outbox_after = 0;
  const inRecords = async (client: RecordsClient): Promise<CallResult> => {
    const response = await client.deleteBrandData({ brand_id, outbox_after }).catch((error: { readonly kind?: string }) => {
      // Cells that do not have the brand refuse it.
      if (records.length === 1 || error.kind !== "brand_moving") throw error;
      return { deleted: [], done: true, outbox_after: 0 };
    });
    ({ outbox_after } = response);
    return response;
  };
  let rows = await untilDone(deleting, "webhook", () => clients.webhook.deleteBrandData({ brand_id }));
  rows += await untilDone(deleting, "plans", () => clients.plans.deleteBrandData({ brand_id }));
  for (const client of records) rows += await untilDone(deleting, "records", () => inRecords(client));
  return rows;
}

/** Repeats a call until it is done. Returns how many rows it deleted. */
export async function untilDone({ status, tell, signal, rows }: Deleting, where: string, call: () => Promise<CallResult>): Promise<number> {
  let total = 0;
  for (;;) {
    const { deleted, done, waiting_for: waitingFor } = await call();
    for (const { kind, rows: count } of deleted) rows.set(kind, (rows.get(kind) ?? 0) + count);
    const count = deleted.reduce((sum, each) => sum + each.rows, 0);
    total += count;
    if (done) return total;
    // Numbers are left out: they change with every call.
    if (waitingFor != null) tell(`Waiting in ${where} for ${waitingFor.replace(/ \(\d+\)$/, "")}.`);
    status.show(`Deleting in ${where}: ${counted(total, "row")}${waitingFor == null ? "" : `; waiting for ${waitingFor}`}`);
    if (count === 0) await pause(POLL_MS, undefined, { signal });
  }
}

async function untilSettled({ status, tell, signal }: Deleting, settledAt: number): Promise<void> {
  const seconds = Math.ceil((settledAt - performance.now()) / 1_000);
  if (seconds > 1) tell(`Waiting ${seconds} s for requests and attempts from before the deletion to end.`);
  for (let leftMs = settledAt - performance.now(); leftMs > 0; leftMs = settledAt - performance.now()) {
    status.show(`Waiting ${Math.ceil(leftMs / 1_000)} s for requests and attempts from before the deletion to end`);
    await pause(Math.min(leftMs, 1_000), undefined, { signal });
  }
}

const HEALTH_MS = 5_000;

/**
 * Looks whether every service that a deletion calls is there: begun without one of them, it could not be undone, and not go on.
 *
 * @param undone such as `Nothing was deleted.`, before the reason
 * @param cell the brand's
 */
export async function requireServing(session: Session, undone: string, cell: string | null | undefined): Promise<void> {
  const { checkRpcHealth } = await import("../doctor/rpc-health.ts");
  for (const name of SERVICE_NAMES) {
    try {
      const endpoint = name === "records" ? session.endpoints.recordsIn(cell) : session.endpoints.get(name);
      await checkRpcHealth(endpoint, session.endpoints.tls(), HEALTH_MS, session.terminal.interrupted);
    } catch (error) {
      throw restated(error, `${undone} ${(error as Error).message}`);
    }
  }
}

interface StatusLine {
  /** Whether anything is shown. */
  readonly isShown: boolean;
  /** Replaces the line. */
  show(text: string): void;
  /** Removes the line. */
  clear(): void;
}

const CLEARED = "\r\u001B[K";

/** Shows what a command is doing, in one line on standard error, if that is a terminal. */
export function openStatusLine({ terminal: { stderr, env }, json }: Session): StatusLine {
  if (stderr.isTTY !== true || json || env["TERM"] === "dumb") return { isShown: false, show: () => undefined, clear: () => undefined };
  return {
    isShown: true,
    // Cut: a line that wraps could not be replaced. A terminal that does not tell its width has 0 columns.
    show: (text) => void stderr.write(`${CLEARED}${text.slice(0, (stderr.columns || 80) - 1)}`),
    clear: () => void stderr.write(CLEARED),
  };
}
