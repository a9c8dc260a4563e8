import type { Delivery } from "@brand-records/proto/webhook/v1";
import { requireFiltered } from "./require-filtered.ts";

/** One promise: deliveries that do not match a filter are refused, and those that match never. */

const deliveryOf = (fields: Partial<Delivery>): Delivery => fields as Delivery;
const ACCEPTED = deliveryOf({ record_id: "po_1", last_outcome: "accepted", last_http_status: 204 });
const FAILED = deliveryOf({ record_id: "po_1", last_outcome: "refused", last_http_status: 599 });
const SILENT = deliveryOf({ record_id: "po_1", last_outcome: "timeout", last_http_status: null });
const NEW = deliveryOf({ record_id: "po_1" });

it.each([
  ["no filter", {}, [ACCEPTED, FAILED, SILENT, NEW]],
  ["no delivery", { record_id: "po_1", status_class: "2xx" }, []],
  ["a record", { record_id: "po_1", status_class: null }, [ACCEPTED, FAILED, SILENT, NEW]],
  ["2xx", { status_class: "2xx" }, [ACCEPTED]],
  ["5xx", { status_class: "5xx" }, [FAILED]],
  ["none", { status_class: "none" }, [SILENT]],
])("takes the deliveries of %s", (_, filters, deliveries) => {
  expect(() => requireFiltered(deliveries, filters)).not.toThrow();
});

it.each([
  ["another record", { record_id: "po_2" }, ACCEPTED],
  ["a release that does not name the record", { record_id: "po_1" }, deliveryOf({ last_http_status: 204 })],
  ["another status", { status_class: "4xx" }, FAILED],
  ["no response", { status_class: "5xx" }, SILENT],
  ["no attempt", { status_class: "none" }, NEW],
])("refuses a page with a delivery of %s", (_, filters, delivery) => {
  expect(() => requireFiltered([delivery], filters)).toThrow(
    expect.objectContaining({ kind: "unavailable", message: expect.stringContaining("being updated") }),
  );
});
