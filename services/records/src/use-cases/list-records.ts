import type { Sql } from "@brand-records/postgres";
import type { RecordOf, ResourceName } from "@brand-records/resources";
import { nextCursor, pageFrom, type PageRequest } from "../domain/page.ts";
import { requireServable } from "../domain/servable.ts";
import { pageOfRecords } from "../storage/record-tables.ts";

export interface PageOf<Name extends ResourceName> {
  readonly data: RecordOf<Name>[];
  readonly next_cursor: string | null;
}

/**
 * Reads one page of a brand's records.
 *
 * @throws AppError `invalid_parameter` or `invalid_cursor`
 * @throws UnservableRecord if a stored value fits no message
 */
export async function listRecords<Name extends ResourceName>(db: Sql, resource: Name, request: PageRequest): Promise<PageOf<Name>> {
  const page = pageFrom(resource, request);
  const data = await pageOfRecords(db, resource, page);
  requireServable(resource, page.brandId, data);
  return { data, next_cursor: nextCursor(resource, page, data) };
}
