import { readFileSync } from "node:fs";
import { RESOURCE_NAMES } from "@brand-records/resources";

/** One promise: docs/syncing.md gives the right duration of a walk. */

const PAGE_RECORDS = 200;

it("the table of durations follows from the page size, the number of lists and the limits", () => {
  const page = readFileSync("docs/syncing.md", "utf8");
  const limits = [...page.matchAll(/(\d+) a minute +\|/g)].map(([, limit]) => Number(limit));
  expect(limits).toEqual([60, 120, 240]);
  const rows = [...page.matchAll(/^\| ([\d,]+) +\| ([\d,]+) +\| (.+?) +\| (.+?) +\| (.+?) +\|$/gm)];
  expect(rows.map(([, records]) => records)).toEqual(["1,000", "10,000", "100,000", "1,000,000"]);
  for (const [, records = "", requests, ...durations] of rows) {
    // Each list ends with a page that is not full.
    const count = Number(records.replaceAll(",", "")) / PAGE_RECORDS + RESOURCE_NAMES.length;
    expect(requests).toBe(count.toLocaleString("en"));
    // The first minute's requests are accepted immediately, the next ones a minute later.
    const minutes = limits.map((limit) => Math.ceil(count / limit) - 1);
    expect(durations).toEqual(minutes.map((minute) => (minute === 0 ? "under 1 min" : `${minute} min`)));
  }
});
