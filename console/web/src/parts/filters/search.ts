import { isDay } from "./days.ts";

const TEXT_LENGTH_MAX = 1_000;

/** Returns what reads filters and the page from a URL. It drops what cannot be one; `from` and `to` are days. */
export const searchOf =
  <Name extends string>(...names: Name[]) =>
  (search: Record<string, unknown>): { readonly [Key in Name]?: string } =>
    Object.fromEntries(names.flatMap((name) => (isValue(name, search[name]) ? [[name, search[name]]] : []))) as { [Key in Name]?: string };

const isValue = (name: string, value: unknown): boolean =>
  name === "from" || name === "to" ? isDay(value) : typeof value === "string" && value !== "" && value.length <= TEXT_LENGTH_MAX;
