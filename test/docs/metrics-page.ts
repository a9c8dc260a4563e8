import { readFileSync } from "node:fs";

export interface ListedMetric {
  readonly name: string;
  readonly type: string;
  /** Each with the values that are listed; undefined if the page describes them. */
  readonly labels: ReadonlyMap<string, ReadonlySet<string> | undefined>;
  readonly services: readonly string[];
}

const CODE = /`([^`]+)`/g;
const codeIn = (text: string): string[] => [...text.matchAll(CODE)].map(([, code = ""]) => code);

/** Reads the tables of docs/metrics.md. */
export function listedMetrics(): ListedMetric[] {
  const page = readFileSync("docs/metrics.md", "utf8");
  return page.split(/^## /m).flatMap((section) => {
    const services = codeIn(/^In (.*)\.$/m.exec(section)?.[1] ?? "");
    const rows = section.matchAll(/^\| `(\w+)` +\| (\w+) +\| (.*?) *\| [^|]+\| [^|]+\|$/gm);
    return [...rows].map(([, name = "", type = "", cell = ""]) => ({ name, type, labels: labelsIn(cell), services }));
  });
}

/** `kind`: `a`, `b`; `version` — words between the values mean that they are described and not listed. */
function labelsIn(cell: string): ListedMetric["labels"] {
  const labels = new Map<string, ReadonlySet<string> | undefined>();
  for (const part of cell.split(";").filter((each) => each.trim() !== "")) {
    const [names = "", values] = part.split(/:(.*)/s);
    const isListed = values !== undefined && values.replaceAll(CODE, "").replaceAll(/[\s,]/g, "") === "";
    for (const name of codeIn(names)) labels.set(name, isListed ? new Set(codeIn(values)) : undefined);
  }
  return labels;
}
