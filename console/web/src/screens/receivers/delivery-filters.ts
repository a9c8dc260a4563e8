import type { Delivery, Input } from "@brand-records/console-contract";
import type { DeliverySearch } from "./delivery-search.ts";
import { recordFilter, typeFilter } from "../../parts/event-types.ts";
import type { Filter } from "../../parts/filters/filter-bar.tsx";
import { instantsOf } from "../../parts/filters/days.ts";

const STATES: readonly { readonly value: Delivery["state"]; readonly label: string }[] = [
  { value: "failed", label: "Failed" },
  { value: "pending", label: "Waiting" },
  { value: "sending", label: "Sending" },
  { value: "held", label: "Held" },
  { value: "delivered", label: "Delivered" },
];

type StatusClass = NonNullable<Input<"deliveries.list">["status_class"]>;

const STATUSES: readonly { readonly value: StatusClass; readonly label: string }[] = [
  { value: "5xx", label: "5xx, its own error" },
  { value: "4xx", label: "4xx, refused" },
  { value: "3xx", label: "3xx, redirect" },
  { value: "2xx", label: "2xx, accepted" },
  { value: "none", label: "No response" },
];

export const DELIVERY_FILTERS: readonly Filter[] = [
  { kind: "choice", name: "state", label: "State", all: "All states", options: STATES },
  { kind: "choice", name: "status", label: "Last HTTP status", all: "All statuses", options: STATUSES },
  typeFilter("Event type"),
  { kind: "days" },
  recordFilter("record"),
  {
    kind: "text",
    name: "event",
    label: "Event id",
    placeholder: "evt_…",
    pattern: /^evt_[0-9a-z]{1,40}$/,
    problem: "An event’s id starts with evt_",
  },
];

type ListFilter = Pick<Input<"deliveries.list">, "states" | "type" | "from" | "to" | "event_id" | "record_id" | "status_class">;

/** Returns the filters of a URL as the service takes them. An unknown state or status stays in: the page then shows the refusal, not every delivery. */
export const listFilter = ({ state, status, type, record, event, from, to }: DeliverySearch): ListFilter => ({
  states: state === undefined ? undefined : [state as Delivery["state"]],
  status_class: status as StatusClass | undefined,
  type,
  record_id: record,
  event_id: event,
  ...instantsOf({ from, to }),
});
