import { AppError } from "@brand-records/errors";
import { KeyedSemaphore, NoRoomError } from "@brand-records/lifecycle";
import type { Sql } from "@brand-records/postgres";
import { emptyRecord, type RecordOf, RESOURCE_NAMES, type ResourceName, RESOURCES } from "@brand-records/resources";
import type { CallContext } from "@brand-records/rpc";
import { nextCursor, pageFrom, type PageRequest, requireServable } from "../domain/page.ts";
import { pageOfRecords } from "../storage/page-statements.ts";

export interface PageOf<Name extends ResourceName> {
  readonly data: RecordOf<Name>[];
  readonly next_cursor: string | null;
}

/**
 * Reads one page of a brand's records.
 *
 * @throws AppError `invalid_parameter`, `invalid_cursor` or `brand_moving`
 * @throws UnservableRecord if a stored value fits no message
 */
export async function listRecords<Name extends ResourceName>(db: Sql, resource: Name, request: PageRequest): Promise<PageOf<Name>> {
  const page = pageFrom(resource, request);
  const data = await pageOfRecords(db, resource, page);
  requireServable(resource, page.brandId, data);
  const message = page.fields === undefined ? data : data.map((record) => ({ ...EMPTY[resource], ...record }));
  return { data: message, next_cursor: nextCursor(resource, page, data) };
}

/** The encoder of a message takes every field. */
const EMPTY = Object.fromEntries(RESOURCE_NAMES.map((name) => [name, emptyRecord(RESOURCES[name])])) as Record<ResourceName, object>;

/** The time that a statement waits for a connection, too. */
const WAIT_MS = 2_000;
const WAITING_MAX = 1_000;

/**
 * Bounds the connections that one brand's pages hold at a time to half of the pool. A page that takes longer than its request stays at the
 * database until the statement's own limit, and clients repeat what failed: without the bound, ten requests for a slow page left no
 * connection to the other brands.
 *
 * @param connections of the pool
 * @returns runs a brand's work in its turn, and not at all if its caller has gone meanwhile; rejects with AppError `timeout` if the brand's
 *   earlier work holds its share all the time
 */
export function brandTurns(connections: number) {
  const turns = new KeyedSemaphore({
    perKey: () => Math.ceil(connections / 2),
    total: Number.POSITIVE_INFINITY,
    waitingPerKey: WAITING_MAX,
    waitingTotal: WAITING_MAX,
    waitMs: WAIT_MS,
  });
  return async <T>(brandId: string, { parent }: CallContext, work: () => Promise<T>): Promise<T> => {
    try {
      return await turns.run(brandId, async () => {
        if (parent?.cancelled === true) throw new AppError("request_timeout", "The caller has gone");
        return work();
      });
    } catch (error) {
      if (!(error instanceof NoRoomError)) throw error;
      throw new AppError("timeout", "Earlier requests still take too long. Try again.", { cause: error, dependency: "postgres" });
    }
  };
}
