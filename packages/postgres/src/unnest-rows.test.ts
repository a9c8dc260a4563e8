import { createDatabase, type TestDatabase } from "@brand-records/testkit";
import { openPool, type Database } from "./pool.ts";
import { unnestRows } from "./unnest-rows.ts";

let database: TestDatabase;
let db: Database;
beforeAll(async () => {
  database = await createDatabase("unnest_rows");
  db = openPool({ url: database.url, applicationName: "unnest rows test" });
});
afterAll(async () => {
  await db.stop();
  await database.drop();
});

const ORDERS = unnestRows({ id: "text", amount: "int", note: "text null" }, { as: "o", after: 1 });

it("names the parameters after those of the statement, and the columns in the order of the arrays", () => {
  expect(ORDERS.relation).toBe("unnest($2::text[], $3::int[], $4::text[]) as o(id, amount, note)");
  expect(ORDERS.columns).toBe("id, amount, note");
  expect(ORDERS.arrays).toEqual({ id: "$2::text[]", amount: "$3::int[]", note: "$4::text[]" });
  expect(unnestRows({ id: "uuid" }).relation).toBe("unnest($1::uuid[]) as t(id)");
});

it("puts each field into the array of its column, whatever the order of the fields", () => {
  const rows = [
    { note: null, id: "a", amount: 1 },
    { amount: 2, note: "two", id: "b" },
  ];
  expect(ORDERS.values(rows)).toEqual([
    ["a", "b"],
    [1, 2],
    [null, "two"],
  ]);
  expect(ORDERS.values(rows.slice(2))).toEqual([[], [], []]);
});

it("sends a value of every type to Postgres and gets it back", async () => {
  const everything = unnestRows({
    text: "text",
    uuid: "uuid",
    boolean: "boolean",
    smallint: "smallint",
    int: "int",
    bigint: "bigint",
    float8: "float8",
    timestamptz: "timestamptz",
    json: "json",
    jsonb: "jsonb",
    bytea: "bytea",
    none: "bytea null",
  });
  const row = {
    text: `a "quoted", {curly} \\ text`,
    uuid: "6b7a2c1e-52a5-4c1d-9d8e-0b1a3f1f9c55",
    boolean: true,
    smallint: -5,
    int: 2_000_000_000,
    bigint: 9_007_199_254_740_991,
    float8: 0.1,
    timestamptz: "2026-11-21T08:30:00.123Z",
    json: '{"a":[1,"x"]}',
    jsonb: '{"b":null}',
    bytea: Buffer.from([0, 255, 92]),
    none: null,
  };
  const [found] = await db.query(`select * from ${everything.relation}`, everything.values([row]));
  expect(found).toEqual({ ...row, json: { a: [1, "x"] }, jsonb: { b: null } });
});

it("does not compile with a column missing, misspelt, too many, null or of another type", () => {
  // @ts-expect-error The amount is missing.
  ORDERS.values([{ id: "a", note: null }]);
  // @ts-expect-error The note is misspelt.
  ORDERS.values([{ id: "a", amount: 1, notes: null }]);
  // @ts-expect-error No column has the price.
  ORDERS.values([{ id: "a", amount: 1, note: null, price: 2 }]);
  // @ts-expect-error The amount is not nullable.
  ORDERS.values([{ id: "a", amount: null, note: null }]);
  // @ts-expect-error The amount is an int.
  ORDERS.values([{ id: "a", amount: "1", note: null }]);
  // @ts-expect-error Two values are swapped.
  ORDERS.values([{ id: 1, amount: "a", note: null }]);
  // @ts-expect-error No such type.
  unnestRows({ id: "txt" });
});
