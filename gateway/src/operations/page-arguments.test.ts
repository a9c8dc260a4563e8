import type { AppError } from "@brand-records/errors";
import { CURSOR_FORM, fieldNames, RESOURCE_NAMES, RESOURCES } from "@brand-records/resources";
import type { Via } from "./operation.ts";
import { pageInput } from "./page-arguments.ts";

const INPUT = pageInput(RESOURCES.conversions);

const thrownBy = (given: object, via: Via = "rest") => {
  try {
    return INPUT.parse(given, via);
  } catch (error) {
    return error;
  }
};
const refusal = (field: string) => expect.objectContaining({ kind: "invalid_parameter", field });

describe("page arguments", () => {
  it("default to 50 records, beginning with the newest", () => {
    expect(INPUT.parse({}, "rest")).toEqual({ limit: 50 });
  });

  it.each(["1", "200", 1, 200])("accept the limit %j", (limit) => {
    expect(INPUT.parse({ limit }, "rest")).toEqual({ limit: Number(limit) });
  });

  // test/e2e/errors.test.ts has the malformed texts of a query.
  it.each([" 5", "5 ", "-1", "05", "5.0", "1000", "٣", "0x10", 0, 201, -1, 2.5, null, [5]])("refuse the limit %j", (limit) => {
    expect(thrownBy({ limit })).toEqual(refusal("limit"));
  });

  it("are all described for REST, in the same order, but fields", () => {
    const { parameters } = INPUT as typeof INPUT & { from: "query" };
    expect(Object.keys(parameters)).toEqual(Object.keys(INPUT.schema.properties).filter((name) => name !== "fields"));
  });

  it.each([
    [
      ["status", "order_amount_centavos"],
      ["id", "status", "order_amount_centavos"],
    ],
    [
      ["commission_centavos", "created_at", "id", "created_at"],
      ["id", "created_at", "commission_centavos"],
    ],
    [[], undefined],
  ])("of an assistant may be the fields %j: then these, in their order", (fields, shown) => {
    expect(INPUT.parse({ fields }, "assistant")).toEqual({ limit: 50, fields: shown });
    expect(thrownBy({ fields })).toEqual(refusal("fields"));
  });

  it.each([[["status", "views"]], ["status"], [{ 0: "status" }], [[["status"]]], [[null]], [["__proto__"]], [1], [["brand_id"]]])(
    "refuse the fields %j, with those that there are",
    (fields) => {
      const message = `fields must be an array of names of fields: ${fieldNames(RESOURCES.conversions).join(", ")}`;
      expect(thrownBy({ fields }, "assistant")).toMatchObject({ kind: "invalid_parameter", field: "fields", message });
    },
  );

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
      external_id: " ORDER '10\u{1f600}",
      status: "reversed",
      created_from: "2026-11-01T00:00:00+08:00",
      created_before: "2026-12-01t00:00:00.000000001z",
    };
    expect(INPUT.parse({ limit: "10", ...filters }, "rest")).toEqual({ limit: 10, filters });
  });

  it.each<[string, unknown, string]>([
    ["id", "cmp_1", "id must be cnv_ and 1 to 40 lower-case letters or digits"],
    ["campaign_id", "", "campaign_id must be cmp_ and 1 to 40 lower-case letters or digits"],
    ["link_id", ["lnk_1"], "link_id must be lnk_ and 1 to 40 lower-case letters or digits"],
    ["external_id", "", "external_id must not be empty"],
    ["external_id", "x".repeat(201), "external_id must be at most 200 characters"],
    ["external_id", "a\0", "external_id must not contain NUL or lone surrogates"],
    ["external_id", 10_294, "external_id must be text"],
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

  it.each([
    ["2026-11-01T00:00:00Z", "2026-10-31T23:59:59.999Z"],
    ["2026-11-01T00:00:00Z", "2026-11-01T08:00:00+08:00"],
    ["2026-11-01T00:00:00.123456789Z", "2026-11-01T08:00:00.123456789+08:00"],
    ["2026-11-01T00:00:00.1234567Z", "2026-11-01T00:00:00.123456699Z"],
  ])("refuse a range that begins at %s and ends at %s: its empty page would pass for an answer", (created_from, created_before) => {
    const message = "created_before must be later than created_from";
    expect(thrownBy({ created_from, created_before })).toMatchObject({ kind: "invalid_parameter", field: "created_before", message });
  });

  it("read times as common clients write them", () => {
    const given = { since: "2026-11-01 00:00:00Z", created_from: "2026-11-01 08:00:00+0800", created_before: "2026-12-01T00:00:00.5+0000" };
    expect(INPUT.parse(given, "rest")).toEqual({
      limit: 50,
      since: "2026-11-01T00:00:00Z",
      filters: { created_from: "2026-11-01T08:00:00+08:00", created_before: "2026-12-01T00:00:00.5+00:00" },
    });
  });

  it("compare the ends of a range to the nanosecond", () => {
    const filters = { created_from: "2026-11-01T08:00:00.000000001+08:00", created_before: "2026-11-01T00:00:00.000000002Z" };
    expect(INPUT.parse(filters, "rest")).toEqual({ limit: 50, filters });
  });

  it("report every problem at once", () => {
    expect(thrownBy({ status: "paid", limit: "0", offset: "1", link_id: "x", since: "2026-10-01" })).toMatchObject({
      field: "offset",
      details: ["offset", "limit", "since", "link_id", "status"].map((field) => expect.objectContaining({ field })),
    });
  });

  it.each(RESOURCE_NAMES)("of %s have the filters that the resource declares, and no other", (resource) => {
    const input = pageInput(RESOURCES[resource]);
    expect(Object.keys(input.schema.properties)).toEqual(["limit", "cursor", "since", "fields", ...RESOURCES[resource].filters]);
    expect(input.schema.properties["status"]?.enum).toEqual(RESOURCES[resource].schema.shape.status.options);
    const isFilter = (name: string): boolean => RESOURCES[resource].filters.includes(name as never);
    for (const [name, value] of [
      ["campaign_id", "cmp_1"],
      ["link_id", "lnk_1"],
      ["creator_id", "crt_1"],
      ["external_id", "1"],
    ] as const) {
      const parsing = () => input.parse({ [name]: value }, "rest");
      if (isFilter(name)) expect(parsing()).toMatchObject({ filters: {} });
      else expect(parsing).toThrow(expect.objectContaining({ kind: "invalid_parameter", field: name }));
    }
    const isConversions = resource === "conversions";
    expect([isFilter("campaign_id"), isFilter("link_id"), isFilter("external_id")]).toEqual([
      resource !== "campaigns",
      isConversions,
      isConversions,
    ]);
    expect(isFilter("creator_id")).toBe(["submissions", "payouts", "links"].includes(resource));
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
