import { pageArgumentsFrom } from "./page-arguments.ts";

const refused = (field: string) => expect.objectContaining({ kind: "invalid_parameter", field });
const reading = (query: string) => {
  try {
    return pageArgumentsFrom(query);
  } catch (error) {
    return error;
  }
};

describe("page arguments", () => {
  it("default to 50 records from the newest on", () => {
    expect(pageArgumentsFrom("")).toEqual({ limit: 50 });
  });

  it.each(["1", "7", "50", "200"])("take limit=%s", (limit) => {
    expect(pageArgumentsFrom(`limit=${limit}`)).toEqual({ limit: Number(limit) });
  });

  it.each(["0", "201", "1e2", "%2B5", "+5", "", "-1", "05", "5.0", "%205", "5%20", "999", "1000", "٣", "0x10", "%zz", "NaN"])(
    "refuse limit=%s",
    (limit) => {
      expect(reading(`limit=${limit}`)).toEqual(refused("limit"));
    },
  );

  it.each(["limit=5&limit=5", "cursor=a&cursor=b", "since=a&since=a"])("refuse %s", (query) => {
    expect(reading(query)).toEqual(refused(query.split("=")[0] ?? ""));
  });

  it.each(["brand_id", "Limit", "limit[]", "__proto__", "constructor", "offset"])("refuse a parameter %s", (name) => {
    expect(reading(`${name}=1`)).toEqual(refused(name));
  });

  it("name an unknown parameter shortened and escaped", () => {
    const error = reading(`${"x".repeat(5_000)}=1`) as Error;
    expect(error.message.length).toBeLessThan(200);
    expect((reading('"%0a<b>=1') as Error).message).toContain(String.raw`\"\n<b>`);
  });

  it("read the space before an offset as the plus it was", () => {
    expect(pageArgumentsFrom("since=2026-11-21T08:30:00+08:00").since).toBe("2026-11-21T08:30:00+08:00");
    expect(pageArgumentsFrom("since=2026-11-21T08:30:00%2B08:00").since).toBe("2026-11-21T08:30:00+08:00");
  });
});
