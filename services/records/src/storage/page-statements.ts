import type { Sql, Statement } from "@brand-records/postgres";
import {
  fieldNames,
  type FilterName,
  type Filters,
  formatInstant,
  parseInstant,
  type RecordOf,
  RESOURCE_NAMES,
  type ResourceName,
  RESOURCES,
} from "@brand-records/resources";
import { END_OF_TIME, type Page } from "../domain/page.ts";

/** Returns the columns of a resource's table without brand_id: the names of the resource's fields. */
export const columnsOf = (resource: ResourceName): string[] => fieldNames(RESOURCES[resource]);

interface Selection {
  readonly resource: ResourceName;
  readonly columns: readonly string[];
}

/** A cursor is made of the last row's position: it is selected with any fields. */
const selectionOf = (resource: ResourceName, fields?: ReadonlySet<string>): Selection => ({
  resource,
  columns: columnsOf(resource).filter((name) => fields === undefined || fields.has(name) || name === "id" || name === "created_at"),
});

/** The filters that compare a column with a value. The others are bounds of every statement. */
const COLUMN_FILTERS = ["id", "external_id", "link_id", "creator_id", "campaign_id", "status"] as const satisfies readonly FilterName[];
type ColumnFilter = (typeof COLUMN_FILTERS)[number];

/**
 * The statement of a page. Its parameters: brand, `created_at` and `id` of the position that all records come after, the `created_at` that
 * all are later than, the limit, then a value for each filter. A missing bound is infinity. The row comparison has the order of an
 * index, so Postgres seeks to the position. Columns are qualified because ORDER BY prefers an alias of the select list, and would sort
 * by it without an index.
 *
 * A statement with filters leaves the planner no index but the one meant for it. With a choice, it would walk the brand's whole list for a
 * value that its statistics call frequent, and that this brand, or this campaign, does not have.
 *
 * @param filters in the order of COLUMN_FILTERS
 */
function pageStatement(selection: Selection, filters: readonly ColumnFilter[]): Statement {
  return { name: [selection.resource, "page", ...filters].join("."), text: textOf(selection, filters) };
}

function textOf(selection: Selection, filters: readonly ColumnFilter[]): string {
  const [first] = filters;
  const equal = filters.map((name, index) => `t.${name} = ${parameter(index)}`);
  switch (first) {
    case undefined:
      return select(selection, [HERE, ...BOUNDS], ORDER);
    case "id":
      return select(selection, [HERE, ...BOUNDS, ...idRange(parameter(0)), ...equal.slice(1)], "t.id");
    case "status":
      return select(selection, [HERE, ...statusRange(parameter(0))], "t.status desc, t.created_at desc, t.id desc");
    default: {
      const isOneList = first === "external_id" || filters.includes("status");
      return isOneList
        ? select(selection, [HERE, ...BOUNDS, ...equal], NULLS_LAST_ORDER)
        : mergedByStatus(selection, [...BOUNDS, ...equal]);
    }
  }
}

/** Those before are of every page. */
const parameter = (index: number): string => `$${6 + index}`;

/** Fails in a cell that does not have the brand. Elsewhere it is inlined as `true`: nothing of it is in a plan. */
const HERE = "records.is_here($1)";

const BOUNDS = ["(t.created_at, t.id) < ($2::timestamptz, $3)", "t.created_at > $4::timestamptz"];
const ORDER = "t.created_at desc, t.id desc";

/** As `created_at` is never null, this is ORDER. It is the order of the indexes by link, campaign, creator and order number, and of no other. */
const NULLS_LAST_ORDER = "t.created_at desc nulls last, t.id desc";

function select({ resource, columns }: Selection, conditions: readonly string[], order: string): string {
  return `select ${columns.map((column) => `t.${column}`).join(", ")}
             from records.${resource} t
            where t.brand_id = $1 and ${conditions.join(" and ")}
            order by ${order}
            limit $5`;
}

/** A range of one id. Equal to a value, the id would be no order, and any index of the brand as good as the primary key. */
const idRange = (id: string): string[] => [`t.id >= ${id}`, `t.id <= ${id}`];

/** The bounds, in an index by status. The status is part of the range, and so of the order, which no other index has. */
const statusRange = (status: string): string[] => [
  `(t.status, t.created_at, t.id) < (${status}, $2::timestamptz, $3)`,
  `(t.status, t.created_at) > (${status}, $4::timestamptz)`,
];

/**
 * Merges the lists of all statuses, which reads one record more of each than it returns. So an index by campaign and status serves both,
 * and an import writes two indexes less.
 */
function mergedByStatus(selection: Selection, conditions: readonly string[]): string {
  const lists = RESOURCES[selection.resource].schema.shape.status.options.map(
    // The first list is read in any case: one look at the brand is enough.
    (status, index) =>
      `(${select(selection, [...(index === 0 ? [HERE] : []), ...conditions, `t.status = '${status}'`], NULLS_LAST_ORDER)})`,
  );
  return `select * from (${lists.join(" union all ")}) t order by ${NULLS_LAST_ORDER} limit $5`;
}

/** Those of first and later pages without filters, with and without `since`. */
const pageStatements = Object.fromEntries(RESOURCE_NAMES.map((name) => [name, pageStatement(selectionOf(name), [])])) as Record<
  ResourceName,
  Statement
>;

/** Those of pages with filters by the names of the filters: at most 31 for a resource. */
const filteredStatements = new Map<string, Statement>();

/** Returns a page of records, newest first. It costs the same at any depth. */
export function pageOfRecords<Name extends ResourceName>(sql: Sql, resource: Name, page: Page): Promise<RecordOf<Name>[]> {
  const { brandId, after, since, limit, filters, fields } = page;
  const { created_from, created_before } = filters;
  const names = COLUMN_FILTERS.filter((name) => filters[name] !== undefined);
  const isLater = created_before !== undefined && (after === undefined || after.created_at >= created_before);
  return sql.query<RecordOf<Name>>(statementOf(resource, names, fields), [
    brandId,
    ...(isLater ? [created_before, ""] : [after?.created_at ?? "infinity", after?.id ?? ""]),
    laterOf(since, created_from),
    limit,
    ...names.map((name) => filters[name]),
  ]);
}

/** Pages with fields are not prepared: there are as many statements as sets of fields. */
function statementOf(resource: ResourceName, names: readonly ColumnFilter[], fields: Page["fields"]): Statement {
  if (fields !== undefined) return { ...pageStatement(selectionOf(resource, fields), names), isPlannedPerCall: true };
  if (names.length === 0) return pageStatements[resource];
  const key = `${resource} ${names.join()}`;
  const statement = filteredStatements.get(key) ?? pageStatement(selectionOf(resource), names);
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
