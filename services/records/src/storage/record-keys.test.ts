import { readFileSync } from "node:fs";
import { join } from "node:path";
import { RESOURCE_NAMES } from "@brand-records/resources";
import { serveRecords, type ServedRecords } from "../../test/serve-records.ts";

/**
 * Leading with brand_id keeps each list in its brand. A distributed Postgres would need it in every unique key, too; status changes do not
 * work on one yet: docs/sizing.md.
 */

let served: ServedRecords;
beforeAll(async () => {
  served = await serveRecords();
});
afterAll(() => served.stop());

it.each(RESOURCE_NAMES)("every key and index of %s leads with brand_id", async (resource) => {
  const indexes = await served.db.query<{ name: string; leads_with: string | null; is_primary: boolean }>(
    `select i.indexrelid::regclass::text as name, a.attname as leads_with, i.indisprimary as is_primary
       from pg_index i left join pg_attribute a on a.attrelid = i.indrelid and a.attnum = i.indkey[0]
      where i.indrelid = $1::regclass`,
    [`records.${resource}`],
  );
  expect(indexes.filter(({ is_primary }) => is_primary)).toHaveLength(1);
  expect(indexes.filter(({ leads_with }) => leads_with !== "brand_id")).toEqual([]);
});

it("docs/sizing.md says that a distributed Postgres does not work, as long as status changes are looked up under the name of a table", async () => {
  const [checked] = await served.db.query<{ source: string }>(
    "select prosrc as source from pg_proc where oid = 'records.check_transition'::regproc",
  );
  const page = readFileSync(join(import.meta.dirname, "../../../../docs/sizing.md"), "utf8");
  expect(page.includes("**A distributed Postgres does not work.**")).toBe(checked?.source.includes("tg_table_name"));
});
