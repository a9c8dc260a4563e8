import type { Sql, Statement } from "@brand-records/postgres";
import { RESOURCES, type RecordOf, type ResourceName } from "@brand-records/resources";
import type { Page } from "../domain/page.ts";

/** A resource's table has the resource's fields as columns, by the same names, beside brand_id. */
export function columnsOf(resource: ResourceName): string[] {
  return Object.keys(RESOURCES[resource].schema.shape);
}

const pageStatements = Object.fromEntries(Object.keys(RESOURCES).map((name) => [name, pageStatement(name as ResourceName)])) as Record<
  ResourceName,
  Statement
>;

/**
 * One statement for first and later pages, with and without `since`: an open end is infinity. The row comparison is the
 * index' own order, so Postgres goes straight to the position; columns are qualified because ORDER BY prefers an alias
 * of the select list, and would sort by it without any index.
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

/** Newest first. Costs the same at any depth. */
export function pageOfRecords<Name extends ResourceName>(sql: Sql, resource: Name, page: Page): Promise<RecordOf<Name>[]> {
  return sql.query<RecordOf<Name>>(pageStatements[resource], [
    page.brandId,
    page.after?.created_at ?? "infinity",
    page.after?.id ?? "",
    page.since ?? "-infinity",
    page.limit,
  ]);
}
