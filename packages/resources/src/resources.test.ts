import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { RESOURCES } from "./index.ts";

it("every resource that is declared in this folder is in RESOURCES, under its name", () => {
  const sources = readdirSync(import.meta.dirname)
    .filter((file) => file.endsWith(".ts"))
    .map((file) => readFileSync(join(import.meta.dirname, file), "utf8"));
  const declared = sources.flatMap((source) => /^export const (\w+) = defineResource\(/m.exec(source)?.slice(1) ?? []);
  expect(Object.keys(RESOURCES).toSorted()).toEqual(declared.toSorted());
  expect(Object.values(RESOURCES).map(({ name }) => name)).toEqual(Object.keys(RESOURCES));
});
