import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";

/** One promise: a database of a released version can be upgraded, because its migrations are still the same. */

it("keeps every released migration unchanged", () => {
  const released = JSON.parse(readFileSync("test/structure/released-migrations.json", "utf8")) as Record<string, string>;
  const checksum = (path: string): string => (existsSync(path) ? createHash("sha256").update(readFileSync(path)).digest("hex") : "deleted");
  expect(Object.fromEntries(Object.keys(released).map((path) => [path, checksum(path)]))).toEqual(released);
});

/** Migrations from before the line was introduced. */
const WITHOUT_LINE = { accounts: 4, plans: 2, records: 3, webhook: 11 } as const;

it("every migration says in its first line with which releases it works", () => {
  for (const [service, without] of Object.entries(WITHOUT_LINE)) {
    const directory = `services/${service}/migrations`;
    for (const name of readdirSync(directory).toSorted().slice(without)) {
      expect([name, readFileSync(`${directory}/${name}`, "utf8").split("\n")[0]]).toEqual([
        name,
        expect.stringMatching(/^-- works-with-schema: \d+$/),
      ]);
    }
  }
});
