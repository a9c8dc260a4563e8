import type { Database, Sql } from "@brand-records/postgres";
import type { Logger } from "@brand-records/telemetry";
import { afterOutcomes, type LaneChange } from "../domain/lane.ts";
import { lockBrands } from "../storage/brands.ts";
import { holdLane } from "../storage/lanes.ts";
import { lockAndReadLanes, updateLanes, type LaneUpdate, type LockedLane } from "../storage/locked-lanes.ts";
import { notifyDisabled, notifyWorks, writeDisabled } from "../notices.ts";
import type { DisabledReceiver } from "../storage/notices.ts";
import { removeDeliveries } from "../storage/leases.ts";
import { acceptNextSecret, disableReceiver } from "../storage/receivers.ts";
import { settleDeliveries, type AttemptResult } from "../storage/results.ts";

export interface WrittenResults {
  readonly finished: Readonly<Record<"delivered" | "failed" | "removed", number>>;
  readonly disabled: readonly string[];
}

interface ChangedLane {
  readonly lane: LockedLane;
  readonly change: LaneChange;
  /** The results of the receiver whose lease was still valid. */
  readonly settled: readonly AttemptResult[];
}

/**
 * Writes the results of attempts in one transaction: settles their deliveries, changes the lanes, accepts tested secrets and disables
 * receivers.
 *
 * @param now milliseconds since the epoch, by the clock of the attempts
 */
export async function writeResults(db: Database, results: readonly AttemptResult[], now: number, log: Logger): Promise<WrittenResults> {
  const calledAt = performance.now();
  const clock = (): number => now + performance.now() - calledAt;
  const byReceiver = Map.groupBy(results, ({ receiver_id }) => receiver_id);
  const write = async (sql: Sql): Promise<{ finished: WrittenResults["finished"]; disabled: DisabledReceiver[] }> => {
    const lanes = await lockAndReadLanes(sql, [...byReceiver.keys()], clock);
    const { kept, discarded } = await splitByBrand(sql, results, lanes);
    const settledIds = await settleDeliveries(sql, kept);
    if (discarded.length > 0) {
      await removeDeliveries(
        sql,
        discarded.map(({ delivery_id }) => delivery_id),
      );
    }
    const isSettled = ({ attempt_id }: AttemptResult): boolean => settledIds.has(attempt_id);
    const openLanes = lanes.filter(({ isClosed }) => !isClosed);
    const changes = openLanes.map((lane): ChangedLane => {
      const settled = (byReceiver.get(lane.receiverId) ?? []).filter(isSettled);
      return { lane, change: changeOf(lane, settled, now), settled };
    });
    await updateLanes(sql, changes.map(laneUpdate));
    const settled = kept.filter(isSettled);
    await acceptTestedSecrets(sql, settled);
    await noteRecoveries(sql, changes);
    const disabled = await disableReceivers(sql, changes);
    const ended = (state: AttemptResult["state"]): number => settled.filter((result) => result.state === state).length;
    return { disabled, finished: { delivered: ended("delivered"), failed: ended("failed"), removed: discarded.length } };
  };
  const { finished, disabled } = await db.transaction(write, { locksFirst: true });
  for (const receiver of disabled) writeDisabled(log, receiver);
  return { finished, disabled: disabled.map(({ reason }) => reason) };
}

/**
 * Separates the results to discard: nothing may be written for a brand that is being deleted, or was. Its lanes tell; the brand itself
 * is looked at only for receivers that have none, because they were deleted.
 */
async function splitByBrand(
  sql: Sql,
  results: readonly AttemptResult[],
  lanes: readonly LockedLane[],
): Promise<{ kept: AttemptResult[]; discarded: AttemptResult[] }> {
  const isClosed = new Map(lanes.map((lane) => [lane.receiverId, lane.isClosed]));
  const withoutLane = results.filter(({ receiver_id }) => !isClosed.has(receiver_id));
  const brandIds = [...new Set(withoutLane.map(({ brand_id }) => brand_id))];
  const brands = brandIds.length > 0 ? await lockBrands(sql, brandIds) : new Map<string, boolean>();
  const isKept = ({ receiver_id, brand_id }: AttemptResult): boolean =>
    isClosed.get(receiver_id) === false || (!isClosed.has(receiver_id) && brands.get(brand_id) === true);
  return { kept: results.filter(isKept), discarded: results.filter((result) => !isKept(result)) };
}

function changeOf(lane: LockedLane, settled: readonly AttemptResult[], now: number): LaneChange {
  const outcomes = settled
    // The receiver's URL has changed since the attempt: its outcome says nothing about the current URL.
    .filter(({ url }) => url === lane.url)
    .map(({ outcome, http_status, test, started_at }) => ({
      startedAt: Date.parse(started_at),
      kind: outcome,
      httpStatus: http_status,
      test,
    }));
  return afterOutcomes(lane, outcomes, lane.limit, now);
}

function laneUpdate({ lane: { receiverId, ctid, openedAt }, change, settled }: ChangedLane): LaneUpdate {
  const delays = settled.flatMap(({ delay_seconds }) => delay_seconds ?? []);
  const dueInSeconds = delays.length > 0 ? Math.min(...delays) : undefined;
  const hasOpened = change.lane.openedAt !== null && change.lane.openedAt !== openedAt;
  return { receiverId, ctid, lane: change.lane, ended: settled.length, openSeconds: change.openSeconds, hasOpened, dueInSeconds };
}

async function acceptTestedSecrets(sql: Sql, settled: readonly AttemptResult[]): Promise<void> {
  for (const result of settled) {
    if (result.tested_secret !== null && result.outcome === "accepted") await acceptNextSecret(sql, result);
  }
}

async function noteRecoveries(sql: Sql, changes: readonly ChangedLane[]): Promise<void> {
  for (const { lane, change, settled } of changes) {
    if (!lane.pauseNoted || change.lane.pauseNoted) continue;
    await notifyWorks(sql, { receiver_id: lane.receiverId, brand_id: settled[0]?.brand_id ?? "" });
  }
}

async function disableReceivers(sql: Sql, changes: readonly ChangedLane[]): Promise<DisabledReceiver[]> {
  const disabled: DisabledReceiver[] = [];
  for (const { lane, change, settled } of changes) {
    const { disable } = change;
    if (disable === undefined) continue;
    const disabled_at = await disableReceiver(sql, lane.receiverId, disable);
    if (disabled_at === undefined) continue;
    await holdLane(sql, lane.receiverId);
    const brand_id = settled[0]?.brand_id ?? "";
    const receiver = { receiver_id: lane.receiverId, brand_id, reason: disable, disabled_at };
    await notifyDisabled(sql, receiver);
    disabled.push(receiver);
  }
  return disabled;
}
