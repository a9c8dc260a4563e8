import { readQuery } from "./rest.ts";

it("a query means the offset's plus sign by a space in a time, and leaves an order number as it is", () => {
  expect(readQuery("since=2026-11-21T08:30:00+08:00")).toEqual({ since: "2026-11-21T08:30:00+08:00" });
  expect(readQuery("since=2026-11-21+08:30:00.5+0800")).toEqual({ since: "2026-11-21 08:30:00.5+0800" });
  expect(readQuery("since=2026-11-21+08:30")).toEqual({ since: "2026-11-21 08:30" });
  expect(readQuery("external_id=Nov+21+10:30")).toEqual({ external_id: "Nov 21 10:30" });
});

it("a query is refused if it gives a name twice, also __proto__, which is a name like any other", () => {
  for (const name of ["limit", "__proto__", "made_up"]) {
    expect(Object.entries(readQuery(`${name}=1`))).toEqual([[name, "1"]]);
    expect(() => readQuery(`${name}=5&${name}=5`)).toThrow(expect.objectContaining({ kind: "invalid_parameter", field: name }));
  }
});
