import { searchOf } from "./search.ts";

const read = searchOf("type", "from", "to", "page");

it("keeps the filters and the page of a URL, and nothing else", () => {
  expect(read({ type: "payout.paid", from: "2026-11-20", to: "2026-11-20", page: "abc", brand_id: "brd_other" })).toEqual({
    type: "payout.paid",
    from: "2026-11-20",
    to: "2026-11-20",
    page: "abc",
  });
});

it.each([
  [{ from: "2026-02-30", to: "tomorrow" }, {}],
  [{ from: "2026-11-20", to: "2026-11-19" }, { from: "2026-11-20" }],
  [{ from: "never", to: "2026-11-19" }, { to: "2026-11-19" }],
  [{ type: 7, page: "" }, {}],
  [{ type: "x".repeat(1_001) }, {}],
])("of %j it keeps %j", (search, kept) => {
  expect(read(search)).toEqual(kept);
});
