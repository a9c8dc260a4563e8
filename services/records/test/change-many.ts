import { submission } from "./sample-records.ts";
import type { ServedRecords } from "./serve-records.ts";

/** Imports `count` submissions, approves all in one statement, and expects one event each in an outbox that was empty. */
export async function changeMany({ db, import: importRecords }: ServedRecords, brand: string, count: number): Promise<void> {
  const records = Array.from({ length: count }, (_, index) => submission({ id: `sub_${index}` }));
  await importRecords(brand, records, { resource: "submissions", chunkSize: 1_000 });
  await db.query("update records.submissions set status = 'approved' where brand_id = $1", [brand]);
  const [counts] = await db.query(
    "select count(*) as rows, count(distinct id) as ids, count(distinct aggregateid) as records from records.outbox",
  );
  expect(counts).toEqual({ rows: count, ids: count, records: count });
}
