import type { Sql, Statement } from "@brand-records/postgres";
import { formatInstant, parseInstant, RESOURCE_NAMES, type Filters, type RecordOf, type ResourceName } from "@brand-records/resources";
import { END_OF_TIME } from "../domain/filters.ts";
import type { Page } from "../domain/page.ts";
import { COLUMN_FILTERS, pageStatement, type ColumnFilter } from "./page-statements.ts";

/** Those of first and later pages without filters, with and without `since`. */
const pageStatements = Object.fromEntries(RESOURCE_NAMES.map((name) => [name, pageStatement(name, [])])) as Record<ResourceName, Statement>;

/** Those of pages with filters by the names of the filters: at most 15 for a resource. */
const filteredStatements = new Map<string, Statement>();

/** Returns a page of records, newest first. It costs the same at any depth. */
export function pageOfRecords<Name extends ResourceName>(sql: Sql, resource: Name, page: Page): Promise<RecordOf<Name>[]> {
  const { brandId, after, since, limit, filters } = page;
  const { created_from, created_before } = filters;
  const names = COLUMN_FILTERS.filter((name) => filters[name] !== undefined);
  const isLater = created_before !== undefined && (after === undefined || after.created_at >= created_before);
  return sql.query<RecordOf<Name>>(names.length === 0 ? pageStatements[resource] : filteredStatement(resource, names), [
    brandId,
    ...(isLater ? [created_before, ""] : [after?.created_at ?? "infinity", after?.id ?? ""]),
    laterOf(since, created_from),
    limit,
    ...names.map((name) => filters[name]),
  ]);
}

function filteredStatement(resource: ResourceName, names: readonly ColumnFilter[]): Statement {
  const key = `${resource} ${names.join()}`;
  const statement = filteredStatements.get(key) ?? pageStatement(resource, names);
  filteredStatements.set(key, statement);
  return statement;
}

/** Returns the time that records of both bounds are later than. */
function laterOf(since: string | undefined, created_from: Filters["created_from"]): string {
  if (created_from === undefined) return since ?? "-infinity";
  if (created_from === END_OF_TIME) return END_OF_TIME;
  const before = formatInstant((parseInstant(created_from) ?? Number.NaN) - 1);
  return since !== undefined && since > before ? since : before;
}
