import { parseCellDatabases } from "./index.ts";

const [first, b, c] = [
  "postgres://owner:p%2Cw@a/records",
  "postgresql://owner:a=b@b:5433/records?sslmode=require",
  "postgres://owner@c/records",
];

it.each([
  [{}, {}],
  [{ RECORDS_DATABASE_URL: first }, { "": first }],
  [
    { RECORDS_DATABASE_URL: first, RECORDS_CELL_DATABASES: `b=${b},south-2=${c}` },
    { "": first, b, "south-2": c },
  ],
])("reads the databases of %j", (env, expected) => {
  expect(Object.fromEntries(parseCellDatabases(env))).toEqual(expected);
});

it.each(["b", "b=", `B=${b}`, `b=${b},b=${c}`, "b=localhost:5432", "b=http://owner:secret@b/records", b])(
  "refuses %j, and shows no password",
  (text) => {
    const parse = () => parseCellDatabases({ RECORDS_CELL_DATABASES: text });
    expect(parse).toThrow("RECORDS_CELL_DATABASES: must be name=postgres://…, comma-separated");
    expect(parse).not.toThrow("secret");
  },
);
