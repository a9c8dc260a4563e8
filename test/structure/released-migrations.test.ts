import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";

/** One promise: a database of a released version can be upgraded, because its migrations are still the same. */

it("keeps every released migration unchanged", () => {
  const released = JSON.parse(readFileSync("test/structure/released-migrations.json", "utf8")) as Record<string, string>;
  const checksum = (path: string): string => (existsSync(path) ? createHash("sha256").update(readFileSync(path)).digest("hex") : "deleted");
  expect(Object.fromEntries(Object.keys(released).map((path) => [path, checksum(path)]))).toEqual(released);
});

/** Migrations of the first release, beside which there is no other. */
const OF_FIRST_RELEASE = { accounts: 5, plans: 1, records: 3, webhook: 4 } as const;

it("every later migration says in its first line with which releases it works", () => {
  for (const [service, count] of Object.entries(OF_FIRST_RELEASE)) {
    const directory = `services/${service}/migrations`;
    for (const name of readdirSync(directory)
      .filter((each) => each !== "late-indexes.sql")
      .toSorted()
      .slice(count)) {
      expect([name, readFileSync(`${directory}/${name}`, "utf8").split("\n")[0]]).toEqual([
        name,
        expect.stringMatching(/^-- works-with-schema: \d+$/),
      ]);
    }
  }
});
