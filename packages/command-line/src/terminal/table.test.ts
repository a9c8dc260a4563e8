import { createColors } from "picocolors";
import { shortened, widthOf, wrapped } from "./printable.ts";
import { table, TABLE_COLUMNS_MAX } from "./table.ts";

const plain = createColors(false);
const colors = createColors(true);

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
    const columns = [
      { title: "A", cell: (row: string) => row, paint: "red" as const },
      { title: "B", cell: () => "b" },
    ];
    const escapes = new RegExp(`${String.fromCharCode(27)}\\[\\d+m`, "g");
    expect(table(columns, ["a", "aaa"], colors, "").replace(escapes, "").split("\n")).toEqual(["A    B", "a    b", "aaa  b"]);
  });

  describe("that is too wide", () => {
    const columns = [
      { title: "ID", cell: () => "i".repeat(60) },
      { title: "NAME", cell: (name: string) => name, cutTo: 6 },
      { title: "TOTAL", cell: () => "t".repeat(40), align: "right" as const },
    ];

    it.each(["n".repeat(80), "名".repeat(80), "اسم ".repeat(20), "👍🏽".repeat(40), "❤\ufe0f".repeat(40), "e\u0301".repeat(80)])(
      "cuts the cells that may be cut until it fits: %s",
      (name) => {
        const [heading = "", line = "", ...rest] = table(columns, [name], plain, "").split("\n");
        expect(rest).toEqual([]);
        expect([heading, line].map(widthOf)).toEqual([TABLE_COLUMNS_MAX, TABLE_COLUMNS_MAX]);
        expect(line).toMatch(/…\s+t+$/);
      },
    );

    it("cuts no cell that may not be cut, and none further than it may be", () => {
      const wide = [...columns, { title: "X", cell: () => "x".repeat(50) }];
      expect(table(wide, ["n".repeat(80)], plain, "").split("\n")[1]).toBe(
        `${"i".repeat(60)}  nnnnn…  ${"t".repeat(40)}  ${"x".repeat(50)}`,
      );
    });

    it("is cut to the given width, or not at all", () => {
      const lines = (columnsMax: number) => table(columns, ["n".repeat(80)], plain, "", undefined, columnsMax).split("\n");
      expect(lines(115).map(widthOf)).toEqual([115, 115]);
      expect(lines(Infinity)[1]).toBe(`${"i".repeat(60)}  ${"n".repeat(80)}  ${"t".repeat(40)}`);
    });

    it("takes from the widest cells first", () => {
      const three = [80, 30, 10].map((width) => ({ title: "A", cell: () => "a".repeat(width), cutTo: 5 }));
      expect(table(three, [0], plain, "").split("\n")[1]?.split("  ").map(widthOf)).toEqual([76, 30, 10]);
    });

    it("breaks the cells of a last column that wraps between words", () => {
      const wrapping = [
        { title: "ID", cell: () => "i".repeat(100) },
        { title: "REASON", cell: (text: string) => text, wraps: true },
      ];
      const lines = table(wrapping, ["one two three four five six"], plain, "").split("\n");
      expect(lines.slice(1)).toEqual([`${"i".repeat(100)}  one two three four`, `${" ".repeat(102)}five six`]);
    });
  });

  it("cuts the lines below a row, and paints them", () => {
    const details = () => [{ text: "d".repeat(200), paint: "red" as const }];
    const [, , detail = ""] = table([{ title: "A", cell: String }], ["a"], colors, "", details).split("\n");
    expect(detail).toBe(`  ${colors.red(`${"d".repeat(117)}…`)}`);
  });

  it("returns the text for an empty table", () => {
    expect(table([{ title: "A", cell: String }], [], plain, "none")).toBe("none");
  });
});

describe("shortened", () => {
  it.each([
    ["abcdef", 6, "abcdef"],
    ["abcdefg", 6, "abcde…"],
    ["名前名前", 6, "名前…"],
    ["名前名前", 5, "名前…"],
    ["e\u0301e\u0301e\u0301", 2, "e\u0301…"],
    ["ab 👍🏽", 4, "ab…"],
    ["ab cd", 4, "ab…"],
    ["", 0, ""],
  ])("%j to %i columns is %j", (text, columns, expected) => expect(shortened(text, columns)).toBe(expected));
});

it("wrapped keeps a word that is longer than a line", () => {
  expect(wrapped("a UNABLE_TO_VERIFY b c", 5)).toEqual(["a", "UNABLE_TO_VERIFY", "b c"]);
});
