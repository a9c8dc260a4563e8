import type { Statement } from "@brand-records/postgres";
import { RESOURCES, type FilterName, type ResourceName } from "@brand-records/resources";
import { columnsOf } from "./record-columns.ts";

/** The filters that compare a column with a value. The others are bounds of every statement. */
export const COLUMN_FILTERS = ["id", "link_id", "campaign_id", "status"] as const satisfies readonly FilterName[];
export type ColumnFilter = (typeof COLUMN_FILTERS)[number];

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
export function pageStatement(resource: ResourceName, filters: readonly ColumnFilter[]): Statement {
  return { name: [resource, "page", ...filters].join("."), text: textOf(resource, filters) };
}

function textOf(resource: ResourceName, filters: readonly ColumnFilter[]): string {
  const [first] = filters;
  const equal = filters.map((name, index) => `t.${name} = ${parameter(index)}`);
  switch (first) {
    case undefined:
      return select(resource, BOUNDS, ORDER);
    case "id":
      return select(resource, [...BOUNDS, ...idRange(parameter(0)), ...equal.slice(1)], "t.id");
    case "status":
      return select(resource, statusRange(parameter(0)), "t.status desc, t.created_at desc, t.id desc");
    default: {
      const isOneList = filters.includes("status");
      return isOneList ? select(resource, [...BOUNDS, ...equal], NULLS_LAST_ORDER) : mergedByStatus(resource, [...BOUNDS, ...equal]);
    }
  }
}

/** Those before are of every page. */
const parameter = (index: number): string => `$${6 + index}`;

const BOUNDS = ["(t.created_at, t.id) < ($2::timestamptz, $3)", "t.created_at > $4::timestamptz"];
const ORDER = "t.created_at desc, t.id desc";

/** As `created_at` is never null, this is ORDER. It is the order of the indexes by link and by campaign, and of no other. */
const NULLS_LAST_ORDER = "t.created_at desc nulls last, t.id desc";

function select(resource: ResourceName, conditions: readonly string[], order: string): string {
  const columns = columnsOf(resource).map((column) => `t.${column}`);
  return `select ${columns.join(", ")}
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
function mergedByStatus(resource: ResourceName, conditions: readonly string[]): string {
  const lists = RESOURCES[resource].schema.shape.status.options.map(
    (status) => `(${select(resource, [...conditions, `t.status = '${status}'`], NULLS_LAST_ORDER)})`,
  );
  return `select * from (${lists.join(" union all ")}) t order by ${NULLS_LAST_ORDER} limit $5`;
}
