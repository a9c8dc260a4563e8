import type { Sql, Statement } from "@brand-records/postgres";
import { RESOURCE_NAMES, RESOURCES, type RecordOf, type ResourceName } from "@brand-records/resources";
import type { Page } from "../domain/page.ts";

/** Returns the columns of a resource's table without brand_id: the names of the resource's fields. */
export function columnsOf(resource: ResourceName): string[] {
  return Object.keys(RESOURCES[resource].schema.shape);
}

const pageStatements = Object.fromEntries(RESOURCE_NAMES.map((name) => [name, pageStatement(name)])) as Record<ResourceName, Statement>;

/**
 * One statement for first and later pages, with and without `since`: a missing bound is infinity. The row comparison has the
 * order of the index, so Postgres seeks to the position. Columns are qualified because ORDER BY prefers an alias of the
 * select list, and would sort by it without an index.
 */
function pageStatement(resource: ResourceName): Statement {
  return {
    name: `${resource}.page`,
    text: `select ${columnsOf(resource)
      .map((column) => `t.${column}`)
      .join(", ")}
             from records.${resource} t
            where t.brand_id = $1 and (t.created_at, t.id) < ($2::timestamptz, $3) and t.created_at > $4::timestamptz
            order by t.created_at desc, t.id desc
            limit $5`,
  };
}

/** Returns a page of records, newest first. It costs the same at any depth. */
export function pageOfRecords<Name extends ResourceName>(sql: Sql, resource: Name, page: Page): Promise<RecordOf<Name>[]> {
  return sql.query<RecordOf<Name>>(pageStatements[resource], [
    page.brandId,
    page.after?.created_at ?? "infinity",
    page.after?.id ?? "",
    page.since ?? "-infinity",
    page.limit,
  ]);
}
