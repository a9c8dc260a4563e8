import type { Sql } from "@brand-records/postgres";
import type { RecordsServiceService } from "@brand-records/proto/records/v1";
import { listMethod, type ListMethod, RESOURCE_NAMES, type ResourceName } from "@brand-records/resources";
import type { CallContext, Handlers } from "@brand-records/rpc";
import type { PageRequest } from "../domain/page.ts";
import { brandTurns, listRecords, type PageOf } from "../use-cases/list-records.ts";

type ListHandler<Name extends ResourceName> = (request: PageRequest, context: CallContext) => Promise<PageOf<Name>>;
type ListHandlers = { readonly [Name in ResourceName as ListMethod<Name>]: ListHandler<Name> };

/**
 * One handler for each resource. A row is sent as it is: columns and message fields share their names. A resource without
 * an RPC, or with a field that its message cannot carry, does not compile.
 *
 * @param connections of `db`
 */
export function recordsHandlers(db: Sql, connections: number): Pick<Handlers<RecordsServiceService>, ListMethod> {
  const inTurn = brandTurns(connections);
  const handlers = RESOURCE_NAMES.map((resource) => {
    const handler: ListHandler<typeof resource> = (request, context) =>
      inTurn(request.brand_id, context, () => listRecords(db, resource, request));
    return [listMethod(resource), handler];
  });
  return Object.fromEntries(handlers) as ListHandlers;
}
