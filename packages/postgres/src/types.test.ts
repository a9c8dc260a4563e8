import { createDatabase, type TestDatabase } from "@brand-records/testkit";
import fc from "fast-check";
import { openPool, type Database } from "./pool.ts";
import { rfc3339FromPostgres } from "./types.ts";

let database: TestDatabase;
let db: Database;
beforeAll(async () => {
  database = await createDatabase("empty");
  db = openPool({ url: database.url, applicationName: "types test" });
});
afterAll(async () => {
  await db.stop();
  await database.drop();
});

it("rfc3339FromPostgres formats every time from the year 0001 to 9999 as JavaScript does", async () => {
  const instant = fc.date({ min: new Date("0001-01-01T00:00:00Z"), max: new Date("9999-12-31T23:59:59.999Z"), noInvalidDate: true });
  await fc.assert(
    fc.asyncProperty(fc.array(instant, { minLength: 1, maxLength: 50 }), async (dates) => {
      const expected = dates.map((date) => date.toISOString());
      const rows = await db.query<{ text: string; at: string }>(
        "select at::text as text, at from unnest($1::timestamptz(3)[]) with ordinality as given (at, i) order by i",
        [expected],
      );
      expect(rows.map(({ text }) => rfc3339FromPostgres(text))).toEqual(expected);
      expect(rows.map(({ at }) => at)).toEqual(expected);
    }),
    { numRuns: 40 },
  );
});

it.each([
  ["2026-11-21 08:30:00+00", "2026-11-21T08:30:00.000Z"],
  ["2026-11-21 08:30:00.1+00", "2026-11-21T08:30:00.100Z"],
  ["2026-11-21 08:30:00.12+00", "2026-11-21T08:30:00.120Z"],
  ["2026-11-21 08:30:00.123456+00", "2026-11-21T08:30:00.123Z"],
])("rfc3339FromPostgres(%j) is %j", (text, expected) => {
  expect(rfc3339FromPostgres(text)).toBe(expected);
});
