import { changesOf } from "./receiver-changes.ts";

const before = { url: "https://a.example/", label: "Warehouse", events: ["payout.paid", "campaign.settled"], maxInFlight: "64" };

it("sends the edited fields alone", () => {
  expect(changesOf(before, { ...before, label: " Warehouse 2 " })).toEqual({ label: "Warehouse 2" });
  expect(changesOf(before, { ...before, events: ["payout.paid"], maxInFlight: "8" })).toEqual({
    events: ["payout.paid"],
    max_in_flight: 8,
  });
});

it("sends nothing for the same events in another order, or spaces around a text", () => {
  expect(changesOf(before, { ...before, url: " https://a.example/ ", events: before.events.toReversed() })).toEqual({});
});

it("sends null for a limit that is no number, not a limit of 0", () => {
  expect(JSON.stringify(changesOf(before, { ...before, maxInFlight: "" }))).toBe('{"max_in_flight":null}');
});

it("sends a field again whose last save had no response, also as it was before", () => {
  expect(changesOf(before, before, ["label", "events"])).toEqual({ label: "Warehouse", events: before.events });
  expect(changesOf(before, { ...before, url: "https://b.example/" }, ["max_in_flight"])).toEqual({
    url: "https://b.example/",
    max_in_flight: 64,
  });
});
