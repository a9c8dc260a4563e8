import type { LinkProps } from "@tanstack/react-router";
import type { Place } from "../places.ts";

/** Where a choice leads. Links name no brand: the page of an id shows the brand that has it. */
export type Target = Pick<LinkProps, "to" | "params" | "search"> | { readonly brand_id: string };

export interface Found {
  readonly text: string;
  /** What it is, beside its text. */
  readonly of: string;
  readonly target: Target;
}

interface Findable {
  readonly places: readonly Pick<Place, "text" | "to">[];
  readonly receivers: readonly { readonly id: string; readonly label: string; readonly url: string }[];
  /** Those that the page does not show. */
  readonly brands: readonly { readonly brand_id: string; readonly brand_name: string }[];
}

const ID = /^([a-z]{2,3})_[0-9a-z]{1,40}$/;
/** That of a request whose caller has named none. */
const REQUEST_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const receiver = (receiverId: string): Target => ({ to: "/developers/receivers/$receiverId", params: { receiverId } });
const record = (record_id: string): Target => ({ to: "/developers/events", search: { record_id } });

/** What an id finds, by its prefix. */
const OF_IDS: Readonly<Record<string, readonly [of: string, targetOf: (id: string) => Target]>> = {
  evt: ["Open the event", (eventId) => ({ to: "/developers/events/$eventId", params: { eventId } })],
  dlv: ["Open the delivery", (deliveryId) => ({ to: "/developers/deliveries/$deliveryId", params: { deliveryId } })],
  rcv: ["Open the receiver", receiver],
  key: ["Open the key", (key) => ({ to: "/developers/keys", search: { key } })],
  // The plan's own type takes the place of this one.
  pln: ["Open the plan", (planId) => ({ to: "/workspaces/$type/plans/$planId", params: { type: "ugc", planId } })],
  ...Object.fromEntries(["cmp", "sub", "po", "dep", "cnv", "lnk"].map((prefix) => [prefix, ["Events about this record", record]])),
};

/**
 * Returns what a text finds: the page of an id, the events about a record, a request, else pages, receivers and brands whose name has each of its words.
 * An id of another kind finds nothing.
 */
export function findTargets(text: string, { places, receivers, brands }: Findable): Found[] {
  const searched = text.trim().toLowerCase();
  const ofId = OF_IDS[ID.exec(searched)?.[1] ?? ""];
  if (ofId !== undefined) return [{ text: searched, of: ofId[0], target: ofId[1](searched) }];
  if (REQUEST_ID.test(searched))
    return [{ text: searched, of: "Open the request", target: { to: "/developers/requests", search: { id: searched } } }];
  const words = searched.split(/\s+/);
  const matches = (name: string): boolean => words.every((word) => name.toLowerCase().includes(word));
  return [
    ...places.filter((place) => matches(place.text)).map((place) => ({ text: place.text, of: "Page", target: { to: place.to } })),
    ...receivers
      .map(({ id, label, url }) => ({ text: label, host: new URL(url).host, target: receiver(id) }))
      .filter(({ text: label, host }) => matches(`${label} ${host}`))
      .map(({ host, ...found }) => ({ ...found, of: `Receiver, ${host}` })),
    ...brands
      .filter(({ brand_name }) => matches(brand_name))
      .map(({ brand_id, brand_name }) => ({ text: brand_name, of: "Show this brand", target: { brand_id } })),
  ];
}
