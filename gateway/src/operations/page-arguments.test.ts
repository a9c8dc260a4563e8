import { pageInput } from "./page-arguments.ts";

const INPUT = pageInput(100);

const thrownBy = (given: object) => {
  try {
    return INPUT.parse(given);
  } catch (error) {
    return error;
  }
};
const refusal = (field: string) => expect.objectContaining({ kind: "invalid_parameter", field });

describe("page arguments", () => {
  it("default to 50 records, beginning with the newest", () => {
    expect(INPUT.parse({})).toEqual({ limit: 50 });
  });

  it.each(["1", "7", "50", "200", 1, 200])("accept the limit %j", (limit) => {
    expect(INPUT.parse({ limit })).toEqual({ limit: Number(limit) });
  });

  it.each([
    "0",
    "201",
    "1e2",
    "+5",
    " 5",
    "5 ",
    "",
    "-1",
    "05",
    "5.0",
    "999",
    "1000",
    "٣",
    "0x10",
    "%zz",
    "NaN",
    0,
    201,
    -1,
    2.5,
    null,
    [5],
  ])("refuse the limit %j", (limit) => {
    expect(thrownBy({ limit })).toEqual(refusal("limit"));
  });

  it("are all described for REST, in the same order", () => {
    const { parameters } = INPUT as typeof INPUT & { from: "query" };
    expect(Object.keys(parameters)).toEqual(Object.keys(INPUT.schema.properties));
  });

  it.each(["brand_id", "Limit", "limit[]", "__proto__", "constructor", "offset"])("refuse the unknown name %s", (name) => {
    expect(thrownBy(Object.fromEntries([[name, "1"]]))).toEqual(refusal(name));
  });

  it("report an unknown name shortened and escaped", () => {
    const long = thrownBy({ ["x".repeat(5_000)]: "1" }) as Error;
    expect(long.message.length).toBeLessThan(200);
    expect(long).toMatchObject({ field: "x".repeat(64) });
    expect((thrownBy({ '"\n<b>': "1" }) as Error).message).toContain(String.raw`\"\n<b>`);
  });
});
