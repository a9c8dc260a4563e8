import { RESOURCE_NAMES } from "@brand-records/resources";
import { serveRecords, type ServedRecords } from "../../test/serve-records.ts";

/** A distributed Postgres, such as Citus, shards by brand_id only if every unique key contains it; leading with it keeps each list in its brand. */

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
