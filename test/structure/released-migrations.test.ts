import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";

/** One promise: a database of a released version can be upgraded, because its migrations are still the same. */

it("keeps every released migration unchanged", () => {
  const released = JSON.parse(readFileSync("test/structure/released-migrations.json", "utf8")) as Record<string, string>;
  const checksum = (path: string): string => (existsSync(path) ? createHash("sha256").update(readFileSync(path)).digest("hex") : "deleted");
  expect(Object.fromEntries(Object.keys(released).map((path) => [path, checksum(path)]))).toEqual(released);
});
