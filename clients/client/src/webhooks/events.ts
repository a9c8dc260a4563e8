import { EVENT_TYPES, type BrandEvent } from "../generated/api.ts";

/** An event of a type that a later version of the service added. */
export interface UnknownEvent {
  readonly id: string;
  readonly type: string;
  readonly created_at: string;
  readonly brand_id: string;
  readonly test: boolean;
  readonly dashboard_url: string;
  readonly data: { readonly [field: string]: unknown };
}

/** Returns whether this version knows the event's type. After it, `switch (event.type)` narrows `event.data`. */
export function isKnownEvent(event: BrandEvent | UnknownEvent): event is BrandEvent {
  return (EVENT_TYPES as readonly string[]).includes(event.type);
}
