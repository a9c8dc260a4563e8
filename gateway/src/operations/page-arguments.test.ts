import type { AppError } from "@brand-records/errors";
import { CURSOR_FORM, RESOURCE_NAMES, RESOURCES } from "@brand-records/resources";
import { pageInput } from "./page-arguments.ts";

const INPUT = pageInput(RESOURCES.conversions, 100);

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

  it.each(["1", "200", 1, 200])("accept the limit %j", (limit) => {
    expect(INPUT.parse({ limit })).toEqual({ limit: Number(limit) });
  });

  // test/e2e/errors.test.ts has the malformed texts of a query.
  it.each([" 5", "5 ", "-1", "05", "5.0", "1000", "٣", "0x10", 0, 201, -1, 2.5, null, [5]])("refuse the limit %j", (limit) => {
    expect(thrownBy({ limit })).toEqual(refusal("limit"));
  });

  it("are all described for REST, in the same order", () => {
    const { parameters } = INPUT as typeof INPUT & { from: "query" };
    expect(Object.keys(parameters)).toEqual(Object.keys(INPUT.schema.properties));
  });

  it.each(["brand_id", "Limit", "limit[]", "__proto__", "constructor", "offset"])("refuse the unknown name %s", (name) => {
    expect(thrownBy(Object.fromEntries([[name, "1"]]))).toEqual(refusal(name));
  });

  it.each(["\ud83d", `${"x".repeat(63)}\u{1f600}`])("are refused in well-formed text whatever the name: %j", (name) => {
    const { message, field, details } = thrownBy({ [name]: "1", limit: "0" }) as AppError;
    for (const text of [message, field, ...(details ?? []).map((detail) => detail.field)]) expect(text?.isWellFormed()).toBe(true);
  });

  it("pass filters on as they were given", () => {
    const filters = {
      id: "cnv_1",
      campaign_id: "cmp_1",
      link_id: "lnk_1",
      status: "reversed",
      created_from: "2026-11-01T00:00:00+08:00",
      created_before: "2026-12-01t00:00:00.000000001z",
    };
    expect(INPUT.parse({ limit: "10", ...filters })).toEqual({ limit: 10, filters });
  });

  it.each<[string, unknown, string]>([
    ["id", "cmp_1", "id must be cnv_ and 1 to 40 lower-case letters or digits"],
    ["campaign_id", "", "campaign_id must be cmp_ and 1 to 40 lower-case letters or digits"],
    ["link_id", ["lnk_1"], "link_id must be lnk_ and 1 to 40 lower-case letters or digits"],
    ["status", "paid", "status must be one of pending, approved, reversed"],
    ["status", "pending,approved", "status must be one of pending, approved, reversed"],
    [
      "created_from",
      "2026-11-01",
      "created_from must be an RFC 3339 time with an offset: in Manila, 2026-11-01 begins at 2026-11-01T00:00:00+08:00",
    ],
    ["created_from", "yesterday", "created_from must be an RFC 3339 time with an offset, such as 2026-11-21T08:30:00+08:00"],
    ["created_before", 1_764_000_000, "created_before must be an RFC 3339 time with an offset, such as 2026-11-21T08:30:00+08:00"],
  ])("refuse %s = %j with what is allowed", (name, value, message) => {
    expect(thrownBy({ [name]: value })).toMatchObject({ kind: "invalid_parameter", field: name, message });
  });

  it("report every problem at once", () => {
    expect(thrownBy({ status: "paid", limit: "0", offset: "1", link_id: "x", since: "2026-10-01" })).toMatchObject({
      field: "offset",
      details: ["offset", "limit", "since", "link_id", "status"].map((field) => expect.objectContaining({ field })),
    });
  });

  it.each(RESOURCE_NAMES)("of %s have the filters that the resource declares, and no other", (resource) => {
    const input = pageInput(RESOURCES[resource], 100);
    expect(Object.keys(input.schema.properties)).toEqual(["limit", "cursor", "since", ...RESOURCES[resource].filters]);
    expect(input.schema.properties["status"]?.enum).toEqual(RESOURCES[resource].schema.shape.status.options);
    const isFilter = (name: string): boolean => RESOURCES[resource].filters.includes(name as never);
    for (const name of ["campaign_id", "link_id"]) {
      const parsing = () => input.parse({ [name]: name === "link_id" ? "lnk_1" : "cmp_1" });
      if (isFilter(name)) expect(parsing()).toMatchObject({ filters: {} });
      else expect(parsing).toThrow(expect.objectContaining({ kind: "invalid_parameter", field: name }));
    }
    expect([isFilter("campaign_id"), isFilter("link_id")]).toEqual([resource !== "campaigns", resource === "conversions"]);
  });

  it("declare the form of cursors", () => {
    expect(INPUT.schema.properties["cursor"]).toMatchObject(CURSOR_FORM);
  });

  it("report an unknown name shortened and escaped", () => {
    const long = thrownBy({ ["x".repeat(5_000)]: "1" }) as Error;
    expect(long.message.length).toBeLessThan(300);
    expect(long).toMatchObject({ field: "x".repeat(64) });
    expect((thrownBy({ '"\n<b>': "1" }) as Error).message).toContain(String.raw`\"\n<b>`);
  });
});
