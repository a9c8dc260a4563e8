import { readFileSync } from "node:fs";
import { EVENT_TYPE_NAMES, EVENT_TYPES, RESOURCE_NAMES, RESOURCES } from "@brand-records/resources";

/**
 * One promise: docs/platform.md lists every table, column and event. platform-role.test.ts compares its status changes with the
 * database.
 */

const page = readFileSync("docs/platform.md", "utf8");
const section = (title: string): string => new RegExp(`^## ${title}\n(.*?)^## `, "ms").exec(page)?.[1] ?? "";

/** Returns the names in a table's cell, each with `?` if it may be null. Code with other characters describes values. */
const namesIn = (cell: string): string[] => [...cell.matchAll(/`(\w+)`(\??)/g)].map(([, name = "", mark = ""]) => name + mark);

it.each(RESOURCE_NAMES)("the columns of %s are listed, with those that may be null", (resource) => {
  const { shape } = RESOURCES[resource].schema;
  const common = new Set(["id", "created_at", "updated_at"]);
  const columns = Object.entries(shape)
    .filter(([name]) => !common.has(name))
    .map(([name, field]) => (field.safeParse(null).success ? `${name}?` : name));
  const cell = new RegExp(`^\\| \`${resource}\` +\\| (.*) \\|$`, "m").exec(section("The tables"))?.[1] ?? "";
  // A mark after a column's name in a cell holds for that column alone.
  expect(namesIn(cell)).toEqual(columns);
});

it("the prefix of every table's ids is listed", () => {
  const prefixes = RESOURCE_NAMES.map((resource) => `\`${RESOURCES[resource].example.id.split("_")[0]}_\``);
  expect(section("The tables")).toContain(`\`id\` is the prefix of its table (${prefixes.join(", ")})`);
});

it("every event is listed with the status that makes it and its fields", () => {
  const rows = [...section("The events").matchAll(/^\| an? \w+ to `(\w+)` +\| `([\w.]+)` +\| (.*) \|$/gm)];
  const common = new Set(["resource", "id", "campaign_id", "status", "previous_status", "updated_at"]);
  const documented = rows.map(([, status = "", type = "", fields = ""]) => ({ status, type, fields: namesIn(fields).toSorted() }));
  const declared = EVENT_TYPE_NAMES.map((type) => ({
    status: type.slice(type.indexOf(".") + 1),
    type,
    fields: Object.keys(EVENT_TYPES[type].data.shape)
      .filter((field) => !common.has(field))
      .toSorted(),
  }));
  expect(documented).toEqual(declared);
});
