import { DELIVERY_FILTERS, listFilter } from "./delivery-filters.ts";
import { deliverySearch } from "./delivery-search.ts";

const search = {
  state: "failed",
  status: "5xx",
  type: "payout.paid",
  record: "po_1",
  event: "evt_1",
  from: "2026-11-20",
  to: "2026-11-21",
} as const;

it("asks the service for what each filter of the URL selects", () => {
  expect(listFilter(search)).toEqual({
    states: ["failed"],
    status_class: "5xx",
    type: "payout.paid",
    record_id: "po_1",
    event_id: "evt_1",
    from: "2026-11-20T00:00:00+08:00",
    to: "2026-11-22T00:00:00+08:00",
  });
  expect(listFilter({ after: "dlv_1" })).toEqual({});
});

it("shows a filter for each, whose name the URL keeps", () => {
  const names = DELIVERY_FILTERS.flatMap((filter) => (filter.kind === "days" ? ["from", "to"] : [filter.name]));
  expect(names.toSorted()).toEqual(Object.keys(search).toSorted());
  expect(deliverySearch(search)).toEqual(search);
});
