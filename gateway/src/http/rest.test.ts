import { readQuery } from "./rest.ts";

const thrownBy = (query: string) => {
  try {
    return readQuery(query);
  } catch (error) {
    return error;
  }
};

describe("a query", () => {
  it.each(["limit", "cursor", "since", "__proto__", "made_up"])("is refused if it gives %s twice", (name) => {
    expect(thrownBy(`${name}=5&${name}=5`)).toMatchObject({ kind: "invalid_parameter", field: name });
  });

  it("keeps the plus sign of an offset, encoded or not", () => {
    expect(readQuery("since=2026-11-21T08:30:00+08:00")).toEqual({ since: "2026-11-21T08:30:00+08:00" });
    expect(readQuery("since=2026-11-21T08:30:00%2B08:00")).toEqual({ since: "2026-11-21T08:30:00+08:00" });
  });

  it("holds __proto__ as a name like any other", () => {
    expect(Object.entries(readQuery("__proto__=1"))).toEqual([["__proto__", "1"]]);
  });
});
