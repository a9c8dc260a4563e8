export type CopyValue = string | number | null | undefined | readonly string[];

/** A row in Postgres' COPY text format, with its line feed. Strings, numbers, null and arrays of strings. */
export function copyRow(values: readonly CopyValue[]): string {
  return `${values.map(copyValue).join("\t")}\n`;
}

function copyValue(value: CopyValue): string {
  if (value === null || value === undefined) return "\\N";
  return escapeCopy(typeof value === "object" ? arrayLiteral(value) : String(value));
}

function arrayLiteral(items: readonly string[]): string {
  return `{${items.map((item) => `"${item.replace(/["\\]/g, "\\$&")}"`).join(",")}}`;
}

const ESCAPES: Record<string, string> = { "\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r" };

function escapeCopy(text: string): string {
  return /[\\\t\n\r]/.test(text) ? text.replace(/[\\\t\n\r]/g, (character) => ESCAPES[character] ?? character) : text;
}
