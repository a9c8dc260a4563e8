import { setTimeout as pause } from "node:timers/promises";
import { cellText, isCell, isTimeout } from "../connection/cells.ts";
import { CommandFailure } from "../failure.ts";
import { type Cell, STATEMENT_MS, stateIn } from "./cell.ts";
import { type Moving, until } from "./moving.ts";
import { isCaughtUp } from "./replication.ts";

/** After this time the brand opens again by itself, where it was. */
const CLOSING_SECONDS = 5;
/** What is left is for the last two statements. */
const GIVE_UP_MS = 4_000;
const TRIES_MAX = 10;
/** After a try, writers get more time than they lost. */
const RETRY_MS = 10_000;
/** What would keep the brand closed: transactions, as a snapshot is as old as the oldest, of whatever brand; and events, if the relay is behind. */
const BUSY = `select from pg_stat_activity where backend_xid is not null and xact_start < clock_timestamp() - interval '1 s'
  union all select from pg_prepared_xacts
  union all select from records.outbox where payload->>'brand_id' = $1 and (payload->>'created_at')::timestamptz < clock_timestamp() - interval '1 s'`;

/**
 * Returns whether the brand has switched: the source is closed for the target; or it has no row of the brand, and the target is open, as after
 * a move whose end accounts has forgotten.
 *
 * @throws CommandFailure `not_here` if the source is a cell without the brand
 */
export async function hasSwitched({ source, target, brandId }: Moving): Promise<boolean> {
  const found = await stateIn(source, brandId);
  if (found?.state === "closed" && found.moved_to === target.name) return true;
  if (found !== undefined && found.state !== "closed") return false;
  if (found === undefined && (await stateIn(target, brandId))?.state === "open") return true;
  if (!(await isCell(source))) return false;
  throw new CommandFailure("not_here", `${cellText(source.name)} does not have the brand: was its database restored?`);
}

/** Lets writers go on in the source, which is not closed. */
export async function reopen({ source, target, brandId }: Moving): Promise<void> {
  await target.query("delete from records.brands where brand_id = $1", [brandId]);
  await reopenSource(source, brandId);
}

export const reopenSource = (source: Cell, brandId: string): Promise<unknown> =>
  source.query("update records.brands set state = 'open', closing_until = null where brand_id = $1 and state = 'closing'", [brandId]);

/** Closes the source and opens the target. @returns how long writers were refused, in milliseconds. @throws CommandFailure `still_written` */
export async function switchOver(moving: Moving): Promise<number> {
  const { source, target, signal } = moving;
  for (let tries = 1; tries <= TRIES_MAX; tries += 1) {
    await untilIdle(moving);
    for (const cell of [source, target]) await limitStatements(cell, 1_000);
    const closedMs = await trySwitch(moving);
    for (const cell of [source, target]) await limitStatements(cell, STATEMENT_MS);
    if (closedMs !== undefined) return closedMs;
    moving.tell("The brand is open again where it was: a transaction, replication or the relay took too long. Trying again.");
    await pause(RETRY_MS, undefined, { signal });
  }
  throw new CommandFailure(
    "still_written",
    `The brand is open where it was: ${TRIES_MAX} times something took longer than ${GIVE_UP_MS} ms.`,
  );
}

async function untilIdle(moving: Moving): Promise<void> {
  const { source, brandId, signal } = moving;
  const isIdle = async (): Promise<boolean> => (await source.query(BUSY, [brandId])).length === 0;
  if (!(await isIdle())) moving.tell("Waiting for transactions that are older than a second, or for the relay.");
  await until(Infinity, signal, isIdle);
  while (!(await isCaughtUp(moving, performance.now() + 500)));
}

const limitStatements = (cell: Cell, ms: number): Promise<unknown> => cell.query(`set statement_timeout = ${ms}; set lock_timeout = ${ms}`);

async function trySwitch(moving: Moving): Promise<number | undefined> {
  const startedAt = performance.now();
  const failure = await close(moving, startedAt + GIVE_UP_MS).catch((error: unknown) => error);
  try {
    // A statement without an answer may have been committed.
    if (await hasSwitched(moving)) return performance.now() - startedAt;
    await reopen(moving);
  } catch (error) {
    if (!isTimeout(error)) throw failure ?? error;
  }
  if (failure !== undefined && !isTimeout(failure)) throw failure;
  return undefined;
}

/** Lets the source say at the end that the brand has moved, unless it takes too long. */
async function close(moving: Moving, endsAt: number): Promise<void> {
  const { source, target, brandId } = moving;
  await source.query(
    `update records.brands set state = 'closing', closing_until = clock_timestamp() + interval '${CLOSING_SECONDS} s'
      where brand_id = $1 and (state = 'open' or closing_until <= clock_timestamp())`,
    [brandId],
  );
  if (!(await isQuiet(moving, endsAt))) return;
  await target.query("select records.become_cell($1)", [[brandId]]);
  await source.query(
    `update records.brands set state = 'closed', closing_until = null, moved_to = $2
      where brand_id = $1 and state = 'closing' and closing_until > clock_timestamp()`,
    [brandId, target.name],
  );
}

/**
 * Whether all that was written before the closing is in the target and in the log. The number of a new transaction is above those of all
 * that were admitted: a snapshot's end is not, as it is that of the last transaction that has ended.
 */
async function isQuiet(moving: Moving, endsAt: number): Promise<boolean> {
  const { source, brandId, signal } = moving;
  const [barrier] = await source.query<{ xid: string }>("select pg_current_xact_id()::text as xid");
  const ended = "select 1 where pg_snapshot_xmin(pg_current_snapshot()) >= $1::xid8";
  const event = "select from records.outbox where payload->>'brand_id' = $1 limit 1";
  return (
    (await until(endsAt, signal, async () => (await source.query(ended, [barrier?.xid])).length > 0)) &&
    (await isCaughtUp(moving, endsAt)) &&
    (await until(endsAt, signal, async () => (await source.query(event, [brandId])).length === 0))
  );
}
