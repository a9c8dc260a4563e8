import { AppError } from "@brand-records/errors";
import type { Database, Sql } from "@brand-records/postgres";
import { newId } from "@brand-records/typeid";
import { receiverNotFound, type ReceiverKey } from "../domain/receiver.ts";
import { requireReplay, type Replay } from "../domain/replay.ts";
import { databaseTime } from "../storage/held-deliveries.ts";
import { lockLane } from "../storage/lanes.ts";
import { findReplay, findUnfinishedReplay, insertReplay } from "../storage/replays.ts";

/**
 * Starts a replay: workers queue every event since a time for the receiver once more. Repeated and simultaneous calls with
 * the same time return the same replay until it is finished.
 *
 * @param since RFC 3339, UTC, milliseconds
 * @throws AppError `not_found`, `invalid_request`, `request_conflict` while another replay of the receiver is in progress
 */
export async function replayEvents(db: Database, key: ReceiverKey, since: string): Promise<Replay> {
  const replayId = await db.transaction((sql) => replayIdFor(sql, key, since));
  return requireReplay(await findReplay(db, { brandId: key.brandId, replayId }));
}

async function replayIdFor(sql: Sql, { brandId, receiverId }: ReceiverKey, since: string): Promise<string> {
  // One call at a time. Intake comes before or after: events it has stored are replayed, later ones it delivers itself.
  if (!(await lockLane(sql, { brandId, receiverId }))) throw receiverNotFound();
  const unfinished = await findUnfinishedReplay(sql, receiverId);
  if (unfinished !== undefined) {
    if (unfinished.since === since) return unfinished.id;
    throw new AppError(
      "request_conflict",
      `A replay of the receiver's events since ${unfinished.since} is in progress (${unfinished.id}). Wait until it ends, or repeat the call with that time to see it.`,
      { field: "since" },
    );
  }
  const until = await databaseTime(sql);
  if (since > until) throw new AppError("invalid_request", "since must not be in the future", { field: "since" });
  const id = newId("rpl");
  await insertReplay(sql, { id, brandId, receiverId, since, until });
  return id;
}
