import { AppError } from "@brand-records/errors";
import type { Database, Sql } from "@brand-records/postgres";
import { newId } from "@brand-records/ids";
import type { RecordChange } from "@brand-records/service-runtime";
import { receiverNotFound, type ReceiverKey } from "../domain/receiver.ts";
import { requireReplay, type Replay, type ReplayKey, type ReplayRequest } from "../domain/replay.ts";
import { databaseTime } from "../storage/pending-deliveries.ts";
import { laneStatus, lockLane } from "../storage/lanes.ts";
import {
  countReplay,
  endReplay,
  findLatestReplay,
  findReplay,
  findUnfinishedReplay,
  insertReplay,
  type UnfinishedReplay,
} from "../storage/replays.ts";

/**
 * Starts a replay: workers queue the events of a time for the receiver once more. Repeated and simultaneous calls with the same
 * request return the same replay until it is finished.
 *
 * @throws AppError `not_found`, `invalid_request`, `request_conflict` while another replay of the receiver is in progress
 */
export async function replayEvents(db: Database, request: ReplayRequest, record: RecordChange): Promise<Replay> {
  // Comes before the lane is locked: it takes up to a second.
  const counted = request.failedOnly ? ((await countReplay(db, await databaseTime(db), request)) ?? null) : null;
  const replayId = await db.transaction((sql) => replayIdFor(sql, request, counted, record));
  return requireReplay(await findReplay(db, { brandId: request.brandId, replayId }));
}

async function replayIdFor(sql: Sql, request: ReplayRequest, counted: number | null, record: RecordChange): Promise<string> {
  // One call at a time. Intake comes before or after: events it has stored are replayed, later ones it delivers itself.
  if (!(await lockLane(sql, request))) throw receiverNotFound();
  const unfinished = await findUnfinishedReplay(sql, request.receiverId);
  if (unfinished !== undefined) {
    if (isSame(unfinished, request)) return unfinished.id;
    throw inProgress(unfinished);
  }
  const now = await databaseTime(sql);
  requireTimes(request, now);
  const id = newId("rpl");
  await insertReplay(sql, id, now, counted, request);
  await record(sql);
  return id;
}

/**
 * Returns how many events a replay would queue if it started now, counted up to a bound.
 *
 * @throws AppError `not_found`, `invalid_request`
 */
export async function previewReplay(db: Database, request: ReplayRequest): Promise<number> {
  const now = await databaseTime(db);
  requireTimes(request, now);
  const events = await countReplay(db, now, request);
  if (events === undefined) throw receiverNotFound();
  return events;
}

/** @throws AppError `not_found` */
export const getReplay = async (db: Sql, key: ReplayKey): Promise<Replay> => requireReplay(await findReplay(db, key));

/** Returns undefined if the receiver had no replay. @throws AppError `not_found` if the brand has no such receiver */
export async function getLatestReplay(db: Sql, key: ReceiverKey): Promise<Replay | undefined> {
  const replay = await findLatestReplay(db, key);
  if (replay === undefined && (await laneStatus(db, key)) === undefined) throw receiverNotFound();
  return replay;
}

/** Ends a replay: what is queued stays queued. Changes nothing if the replay has finished. @throws AppError `not_found` */
export async function cancelReplay(db: Database, key: ReplayKey, record: RecordChange): Promise<Replay> {
  requireReplay(await findReplay(db, key));
  await db.transaction(async (sql) => {
    if (await endReplay(sql, key)) await record(sql);
  });
  return requireReplay(await findReplay(db, key));
}

const isSame = (unfinished: UnfinishedReplay, { since, until, failedOnly }: ReplayRequest): boolean =>
  unfinished.since === since && unfinished.requested_until === until && unfinished.failed_only === failedOnly;

function requireTimes({ since, until }: ReplayRequest, now: string): void {
  if (since > now) throw new AppError("invalid_request", "since must not be in the future", { field: "since" });
  if (until !== null && until <= since) throw new AppError("invalid_request", "until must be after since", { field: "until" });
}

function inProgress({ id, since, requested_until, failed_only }: UnfinishedReplay): AppError {
  const events = `the receiver's ${failed_only ? "failed " : ""}events since ${since}${requested_until === null ? "" : ` until ${requested_until}`}`;
  return new AppError(
    "request_conflict",
    `A replay of ${events} is in progress (${id}). Wait until it ends, cancel it, or repeat the call with the same fields to see it.`,
    { field: "since" },
  );
}
