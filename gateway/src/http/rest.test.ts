import { readQuery } from "./rest.ts";

it("a query is refused if it gives a name twice, also __proto__, which is a name like any other", () => {
  for (const name of ["limit", "__proto__", "made_up"]) {
    expect(Object.entries(readQuery(`${name}=1`))).toEqual([[name, "1"]]);
    expect(() => readQuery(`${name}=5&${name}=5`)).toThrow(expect.objectContaining({ kind: "invalid_parameter", field: name }));
  }
});
