import type { Sql } from "@brand-records/postgres";
import type { RecordsServiceService } from "@brand-records/proto/records/v1";
import { listMethod, RESOURCE_NAMES, type ListMethod, type ResourceName } from "@brand-records/resources";
import type { Handlers } from "@brand-records/rpc";
import type { PageRequest } from "../domain/page.ts";
import { listRecords, type PageOf } from "../use-cases/list-records.ts";

type ListHandlers = { readonly [Name in ResourceName as ListMethod<Name>]: (request: PageRequest) => Promise<PageOf<Name>> };

/**
 * One handler for each resource. A row is sent as it is: columns and message fields share their names. A resource without
 * an RPC, or with a field that its message cannot carry, does not compile.
 */
export function recordsHandlers(db: Sql): Pick<Handlers<RecordsServiceService>, ListMethod> {
  const handlers = RESOURCE_NAMES.map((resource) => [listMethod(resource), (request: PageRequest) => listRecords(db, resource, request)]);
  return Object.fromEntries(handlers) as ListHandlers;
}
