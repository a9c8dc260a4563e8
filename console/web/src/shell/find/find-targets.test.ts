import { findTargets } from "./find-targets.ts";

const findable = {
  places: [
    { text: "API keys", to: "/developers/keys" },
    { text: "Events", to: "/developers/events" },
  ],
  receivers: [{ id: "rcv_1", label: "Ledger sync", url: "https://hooks.brand.example/in?token=secret" }],
  brands: [{ brand_id: "brd_2", brand_name: "Kapeng Alapaap" }],
} as const;
const targets = (text: string) => findTargets(text, findable).map(({ target }) => target);

it.each([
  ["evt_1", "event"],
  ["dlv_1", "delivery"],
  ["rcv_9", "receiver"],
  ["key_1", "key"],
  ["pln_1", "plan"],
  ["sub_1", "record"],
  ["po_1", "record"],
  ["lnk_1", "record"],
])("leads from the id %s to its %s", (id, kind) => {
  expect(targets(` ${id}\n`)).toEqual([{ kind, id }]);
  expect(targets(id.toUpperCase())).toEqual([{ kind, id }]);
});

it("finds pages, receivers and brands by every word of their names, receivers also by host", () => {
  expect(targets("key api")).toEqual([{ kind: "place", to: "/developers/keys" }]);
  expect(targets("ledger")).toEqual([{ kind: "receiver", id: "rcv_1" }]);
  expect(targets("brand.example")).toEqual([{ kind: "receiver", id: "rcv_1" }]);
  expect(targets("alapaap")).toEqual([{ kind: "brand", id: "brd_2" }]);
  expect(targets("")).toHaveLength(4);
});

it("finds nothing for other ids, for other words, and by a URL's token", () => {
  for (const text of ["att_1", "brd_2", "xyz_1", "evt_", "secret", "nothing"]) expect(targets(text)).toEqual([]);
});
