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

const receiverAt = (receiverId: string) => ({ to: "/developers/receivers/$receiverId", params: { receiverId } });

it.each([
  ["evt_1", { to: "/developers/events/$eventId", params: { eventId: "evt_1" } }],
  ["dlv_1", { to: "/developers/deliveries/$deliveryId", params: { deliveryId: "dlv_1" } }],
  ["rcv_9", receiverAt("rcv_9")],
  ["key_1", { to: "/developers/keys", search: { key: "key_1" } }],
  ["pln_1", { to: "/workspaces/$type/plans/$planId", params: { type: "ugc", planId: "pln_1" } }],
  ["sub_1", { to: "/developers/events", search: { record_id: "sub_1" } }],
  ["po_1", { to: "/developers/events", search: { record_id: "po_1" } }],
  ["lnk_1", { to: "/developers/events", search: { record_id: "lnk_1" } }],
  ["4bcfe915-4532-4e76-8f06-76131da1c19f", { to: "/developers/requests", search: { id: "4bcfe915-4532-4e76-8f06-76131da1c19f" } }],
])("leads from the id %s to its page, or to the events about it", (id, target) => {
  expect(targets(` ${id}\n`)).toEqual([target]);
  expect(targets(id.toUpperCase())).toEqual([target]);
});

it("finds pages, receivers and brands by every word of their names, receivers also by host", () => {
  expect(targets("key api")).toEqual([{ to: "/developers/keys" }]);
  expect(targets("ledger")).toEqual([receiverAt("rcv_1")]);
  expect(targets("brand.example")).toEqual([receiverAt("rcv_1")]);
  expect(targets("alapaap")).toEqual([{ brand_id: "brd_2" }]);
  expect(targets("")).toHaveLength(4);
});

it("finds nothing for other ids, for other words, and by a URL's token", () => {
  for (const text of ["att_1", "brd_2", "xyz_1", "evt_", "secret", "nothing"]) expect(targets(text)).toEqual([]);
});
