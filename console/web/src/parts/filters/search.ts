import { isDay } from "./days.ts";

const TEXT_LENGTH_MAX = 1_000;

/**
 * Returns what reads filters and the page from a URL. It drops what cannot be one. `from` and `to` are days; services refuse a range that
 * ends before it begins, so `to` is dropped then.
 */
export const searchOf =
  <Name extends string>(...names: Name[]) =>
  (search: Record<string, unknown>): { readonly [Key in Name]?: string } =>
    Object.fromEntries(names.flatMap((name) => (isValue(name, search) ? [[name, search[name]]] : []))) as { [Key in Name]?: string };

function isValue(name: string, { [name]: value, from }: Record<string, unknown>): boolean {
  if (name !== "from" && name !== "to") return typeof value === "string" && value !== "" && value.length <= TEXT_LENGTH_MAX;
  return isDay(value) && !(name === "to" && isDay(from) && value < from);
}
