import { buildLateIndexes } from "@brand-records/postgres";
import { serveRecords, type ServedRecords } from "../../test/serve-records.ts";
import { LATE_INDEXES } from "./late-indexes.ts";

let served: ServedRecords;
beforeAll(async () => {
  served = await serveRecords();
});
afterAll(() => served.stop());

it("builds an index for each filter that has no other", async () => {
  const names = ["submissions", "payouts", "deposits", "links"].flatMap((resource) => [`${resource}_of_campaign`, `${resource}_of_status`]);
  const wanted = ["campaigns_of_status", "conversions_of_link", "conversions_of_campaign", "conversions_of_status", ...names];
  const built = await buildLateIndexes(served.db, { url: served.url, schema: "records", indexes: LATE_INDEXES });
  expect(built.toSorted()).toEqual(wanted.toSorted());
});
