import type { Delivery, Output } from "@brand-records/console-contract";
import { deliveredText, deliveryRows } from "./event-rows.ts";

it.each([
  [5, 3, "3 of 5"],
  [1, 0, "0 of 1"],
  [0, 0, "No receiver"],
  [null, null, ""],
])("says of an event with %p receivers, of which %p accepted it, %p", (receivers, receivers_accepted, text) => {
  expect(deliveredText({ receivers, receivers_accepted })).toBe(text);
});

type EventReceiver = Output<"events.get">["receivers"][number];

const receiver = (label: string | null, ids: readonly string[], paused_until: string | null = null): EventReceiver => ({
  receiver_id: `rcv_${label}`,
  label,
  host: label === null ? null : `${label}.example`,
  paused_until,
  deliveries: ids.map((id) => ({ id }) as Delivery),
});

it("lists the deliveries to every receiver together, oldest first, each with its receiver's pause", () => {
  const rows = deliveryRows([receiver("a", ["dlv_5", "dlv_1"], "2026-11-22T08:00:00Z"), receiver(null, ["dlv_4", "dlv_3"])]);
  expect(rows.map(({ delivery: { id }, label, host, pausedUntil, isNewest }) => [id, label, host, pausedUntil, isNewest])).toEqual([
    ["dlv_1", "a", "a.example", "2026-11-22T08:00:00Z", false],
    ["dlv_3", null, null, null, false],
    ["dlv_4", null, null, null, true],
    ["dlv_5", "a", "a.example", "2026-11-22T08:00:00Z", true],
  ]);
});
