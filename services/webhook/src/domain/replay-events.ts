import { AppError } from "@brand-records/errors";
import type { Database, Sql } from "@brand-records/postgres";
import { newId } from "@brand-records/typeid";
import { timeOfDay } from "../storage/held-deliveries.ts";
import { lockLane } from "../storage/receivers.ts";
import { findReplay, insertReplay, replayUnderWay } from "../storage/replays.ts";
import { noSuchReceiver, type ReceiverKey } from "./receiver.ts";
import { noSuchReplay, type Replay, type ReplayKey } from "./replay.ts";

/**
 * Notes that all events since a time are to be sent to the receiver once more; workers do it. Of any number of calls at once
 * one makes the replay, and the others are answered the same.
 *
 * @param since RFC 3339, UTC, milliseconds
 * @throws AppError `not_found`, `invalid_request`, `request_conflict` while another replay of the receiver is under way
 */
export async function replayEvents(db: Database, key: ReceiverKey, since: string): Promise<Replay> {
  const replayId = await db.transaction((sql) => replayIdFor(sql, key, since));
  return existingReplay(await findReplay(db, { brandId: key.brandId, replayId }));
}

/** @throws AppError `not_found` */
export async function getReplay(db: Database, key: ReplayKey): Promise<Replay> {
  return existingReplay(await findReplay(db, key));
}

async function replayIdFor(sql: Sql, { brandId, receiverId }: ReceiverKey, since: string): Promise<string> {
  // One after the other. And intake comes before us or after us: what it has stored by now is replayed, what it stores
  // from here on it delivers by itself.
  if (!(await lockLane(sql, { brandId, receiverId }))) throw noSuchReceiver();
  const underWay = await replayUnderWay(sql, receiverId);
  if (underWay !== undefined) {
    if (underWay.since === since) return underWay.id;
    throw new AppError(
      "request_conflict",
      `A replay of the receiver's events since ${underWay.since} is under way (${underWay.id}). Wait for its end, or ask for the same time to see it.`,
      { field: "since" },
    );
  }
  const until = await timeOfDay(sql);
  if (since > until) throw new AppError("invalid_request", "since must not be in the future", { field: "since" });
  const id = newId("rpl");
  await insertReplay(sql, { id, brandId, receiverId, since, until });
  return id;
}

function existingReplay(replay: Replay | undefined): Replay {
  if (replay === undefined) throw noSuchReplay();
  return replay;
}
