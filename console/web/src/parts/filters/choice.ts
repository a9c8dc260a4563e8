import type { Filter } from "./filter-bar.tsx";

/** A choice among what is found: the values and labels of items, each value once. */
export const choice = <Item>(
  name: string,
  label: string,
  all: string,
  items: readonly Item[],
  optionOf: (item: Item) => readonly [value: string, label: string],
): Filter => ({
  kind: "choice",
  name,
  label,
  all,
  options: [...new Map(items.map(optionOf))].map(([value, text]) => ({ value, label: text })),
});
