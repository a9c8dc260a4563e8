import type { Place } from "../places.ts";

/** Where a choice leads. */
export type Target =
  | { readonly kind: "place"; readonly to: Place["to"] }
  | { readonly kind: "event" | "delivery" | "receiver" | "key" | "plan"; readonly id: string }
  | { readonly kind: "record"; readonly id: string }
  | { readonly kind: "brand"; readonly id: string };

/** Tells targets apart, which names do not: two receivers may have the same one. */
export const keyOf = (target: Target): string => `${target.kind} ${target.kind === "place" ? target.to : target.id}`;

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
const WITH_PAGE = { evt: "event", dlv: "delivery", rcv: "receiver", key: "key", pln: "plan" } as const;
const RECORDS: ReadonlySet<string> = new Set(["cmp", "sub", "po", "dep", "cnv", "lnk"]);

const isOneOf = <Names extends object>(name: string, names: Names): name is string & keyof Names => Object.hasOwn(names, name);

/**
 * Returns what a text finds: the page of an id, the events about a record, else pages, receivers and brands whose name has each of its words.
 * An id of another kind finds nothing.
 */
export function findTargets(text: string, { places, receivers, brands }: Findable): Found[] {
  const searched = text.trim().toLowerCase();
  const [, prefix] = ID.exec(searched) ?? [];
  if (prefix !== undefined && isOneOf(prefix, WITH_PAGE)) {
    const kind = WITH_PAGE[prefix];
    return [{ text: searched, of: `Open the ${kind}`, target: { kind, id: searched } }];
  }
  if (prefix !== undefined && RECORDS.has(prefix)) {
    return [{ text: searched, of: "Events about this record", target: { kind: "record", id: searched } }];
  }
  const words = searched.split(/\s+/);
  const matches = (name: string): boolean => words.every((word) => name.toLowerCase().includes(word));
  return [
    ...places
      .filter((place) => matches(place.text))
      .map((place): Found => ({ text: place.text, of: "Page", target: { kind: "place", to: place.to } })),
    ...receivers
      .filter(({ label, url }) => matches(`${label} ${new URL(url).host}`))
      .map(({ id, label, url }): Found => ({ text: label, of: `Receiver, ${new URL(url).host}`, target: { kind: "receiver", id } })),
    ...brands
      .filter(({ brand_name }) => matches(brand_name))
      .map(({ brand_id, brand_name }): Found => ({ text: brand_name, of: "Show this brand", target: { kind: "brand", id: brand_id } })),
  ];
}
