import { searchOf } from "../../parts/filters/search.ts";

/** Reads the filters of a receiver's deliveries, and the page, from a URL. `after`: the last delivery of the page before. */
export const deliverySearch = searchOf("state", "status", "type", "record", "event", "from", "to", "after");

export type DeliverySearch = ReturnType<typeof deliverySearch>;
