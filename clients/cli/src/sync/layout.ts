import { fieldNames, fieldsByKind, RESOURCES, type Resource } from "@brand-records/resources";
import type { Dialect } from "./copy-database.ts";

/**
 * Returns the statements that make a copy's tables and views. Times in tables are RFC 3339 in UTC, as the service writes them: they are
 * ordered as text is.
 */
export const layoutStatements = (dialect: Dialect): string[] => [
  ...dialect.setup,
  // Every record, as a list returned it, so fields that a later release adds are kept. `listed_in` is the last walk that listed it, and
  // `listed_at` when, by the service's clock.
  `create table records (resource text not null, id text not null, created_at text not null, updated_at text not null,
     record ${dialect.json} not null, listed_in integer not null, listed_at text not null, primary key (resource, id))`,
  // The one brand whose records these are.
  "create table brand (only_row integer primary key check (only_row = 1), id text not null)",
  // One row a walk, and the lists that the unfinished walk still has to read, each from its cursor (null: from the start).
  "create table walks (id integer primary key, started_at text not null, finished_at text)",
  "create table to_read (resource text primary key, cursor text)",
  // Events since the last walk ended. One that is received while a page is on its way is merged after that page, which may be older.
  // `received_at` is by this machine's clock.
  `create table waiting_events (resource text not null, id text not null, updated_at text not null, event ${dialect.json} not null,
     received_at text not null, primary key (resource, id, updated_at))`,
  // Records that the last finished walk or the one after it listed.
  `create view listed as select * from records where listed_in >= ${LAST_WALK}`,
  // Records that were listed before, but not by the last finished walk. The platform deletes none: ask the operator about them.
  `create view vanished as select * from records where listed_in < ${LAST_WALK}`,
  ...Object.values(RESOURCES).map((resource) => resourceView(resource, dialect)),
];

/** The last finished walk; 0 before there is one. */
export const LAST_WALK = "(select coalesce(max(id), 0) from walks where finished_at is not null)";

/** The resource without vanished records, with the fields of this version. Money stays a whole number of centavos. */
function resourceView(resource: Resource, { field }: Dialect): string {
  const { numbers, times } = fieldsByKind(resource);
  const kindOf = (name: string) => (numbers.includes(name) ? "number" : times.includes(name) ? "time" : "text");
  const columns = fieldNames(resource).map((name) => `${field(name, kindOf(name))} as ${name}`);
  return `create view ${resource.name} as select ${columns.join(", ")} from listed where resource = '${resource.name}'`;
}
