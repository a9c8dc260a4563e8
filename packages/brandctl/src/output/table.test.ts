import { createColors } from "picocolors";
import { table } from "./table.ts";

const plain = createColors(false);

describe("table", () => {
  it("aligns columns by their width on the screen", () => {
    const rows = [
      { name: "Café", count: 5 },
      { name: "名前 😀", count: 12_345 },
      { name: "e\u0301", count: 0 },
    ];
    const columns = [
      { title: "NAME", cell: (row: (typeof rows)[number]) => row.name },
      { title: "COUNT", cell: (row: (typeof rows)[number]) => String(row.count), align: "right" as const },
      { title: "LAST", cell: () => "x" },
    ];
    expect(table(columns, rows, plain, "").split("\n")).toEqual([
      "NAME     COUNT  LAST",
      "Café         5  x",
      "名前 😀  12345  x",
      "e\u0301            0  x",
    ]);
  });

  it("keeps the widths when cells are coloured", () => {
    const colors = createColors(true);
    const columns = [
      { title: "A", cell: (row: string) => row, paint: colors.red },
      { title: "B", cell: () => "b" },
    ];
    const escapes = new RegExp(`${String.fromCharCode(27)}\\[\\d+m`, "g");
    expect(table(columns, ["a", "aaa"], colors, "").replace(escapes, "").split("\n")).toEqual(["A    B", "a    b", "aaa  b"]);
  });

  it("returns the text for an empty table", () => {
    expect(table([{ title: "A", cell: String }], [], plain, "none")).toBe("none");
  });
});
