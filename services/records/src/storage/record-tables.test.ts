import { RESOURCE_NAMES } from "@brand-records/resources";
import { sampleRecord } from "../../test/any-record.ts";
import { serveRecords, type ServedRecords } from "../../test/serve-records.ts";

let served: ServedRecords;
beforeAll(async () => {
  served = await serveRecords();
});
afterAll(() => served.stop());

describe.each(RESOURCE_NAMES)("the table of %s", (resource) => {
  it("has the triggers that keep identity, transitions and updated_at", async () => {
    const triggers = await served.db.query<{ name: string }>("select tgname as name from pg_trigger where tgrelid = $1::regclass", [
      `records.${resource}`,
    ]);
    const required = ["identity", "transition", "touch"].map((trigger) => `${resource}_${trigger}`);
    expect(triggers.map(({ name }) => name)).toEqual(expect.arrayContaining(required));
  });

  it("refuses every change of a record's identity by direct SQL", async () => {
    await served.import("brd_ours", [sampleRecord(resource)], { resource });
    for (const change of ["brand_id = 'brd_other'", "id = id || 'x'", "created_at = created_at + interval '1 ms'"])
      await expect(served.db.query(`update records.${resource} set ${change}`)).rejects.toThrow("brand_id, id and created_at never change");
  });

  // Keeps each list in its brand. A distributed Postgres would need it in every unique key, too.
  it("leads every key and index with brand_id", async () => {
    const indexes = await served.db.query<{ name: string; leads_with: string | null; is_primary: boolean }>(
      `select i.indexrelid::regclass::text as name, a.attname as leads_with, i.indisprimary as is_primary
         from pg_index i left join pg_attribute a on a.attrelid = i.indrelid and a.attnum = i.indkey[0]
        where i.indrelid = $1::regclass`,
      [`records.${resource}`],
    );
    expect(indexes.filter(({ is_primary }) => is_primary)).toHaveLength(1);
    expect(indexes.filter(({ leads_with }) => leads_with !== "brand_id")).toEqual([]);
  });
});
