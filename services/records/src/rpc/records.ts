import type { Sql } from "@brand-records/postgres";
import type { RecordsServiceService } from "@brand-records/proto/records/v1";
import type { RecordOf, ResourceName } from "@brand-records/resources";
import type { Handlers } from "@brand-records/rpc";
import { nextCursor, pageFrom, type PageRequest } from "../domain/page.ts";
import { requireServable } from "../domain/servable.ts";
import { pageOfRecords } from "../storage/record-tables.ts";

/** A row is a message as it is: columns, message fields and answer share their names. */
export function recordsHandlers(db: Sql): Handlers<RecordsServiceService> {
  return {
    listCampaigns: (request) => list(db, "campaigns", request),
    listSubmissions: (request) => list(db, "submissions", request),
    listPayouts: (request) => list(db, "payouts", request),
    listDeposits: (request) => list(db, "deposits", request),
    listConversions: (request) => list(db, "conversions", request),
    listLinks: (request) => list(db, "links", request),
  };
}

async function list<Name extends ResourceName>(
  db: Sql,
  resource: Name,
  request: PageRequest,
): Promise<{ data: RecordOf<Name>[]; next_cursor: string | null }> {
  const page = pageFrom(resource, request);
  const data = await pageOfRecords(db, resource, page);
  requireServable(resource, page.brandId, data);
  return { data, next_cursor: nextCursor(resource, page, data) };
}
