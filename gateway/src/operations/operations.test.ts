import { ADDED_PERMISSION_NAMES } from "@brand-records/ids";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { RESOURCES } from "@brand-records/resources";
import type { CallContext } from "@brand-records/rpc";
import type { Principal } from "../auth/principal.ts";
import { withRecords } from "../../test/with-records.ts";
import { OPERATIONS } from "./index.ts";

it("every operation that is declared in this folder is in OPERATIONS", async () => {
  const files = readdirSync(import.meta.dirname).filter((file) => !file.endsWith(".test.ts"));
  const declared = (await Promise.all(files.map(operationsIn))).flat();
  expect(declared).not.toEqual([]);
  for (const operation of declared) expect(OPERATIONS.map(({ name }) => name)).toContain(operation?.name);
});

it("every permission that an owner may add is needed by an operation", () => {
  const needed = new Set(OPERATIONS.flatMap(({ permission }) => permission ?? []));
  expect(needed).toEqual(new Set(ADDED_PERMISSION_NAMES));
});

it("every operation that needs a permission is described as failing with permission_required", () => {
  for (const { name, permission, errors } of OPERATIONS) {
    expect({ name, described: errors.includes("permission_required") }).toEqual({ name, described: permission !== undefined });
  }
});

it("a list has the fields that an assistant asked for, also if a records of 1.0.0 sends whole records", async () => {
  const { example } = RESOURCES.links;
  const listLinks = jest.fn().mockResolvedValue({ data: [example], next_cursor: null });
  const links = OPERATIONS.find(({ name }) => name === "list_links");
  const input = links?.input.parse({ fields: ["clicks"] }, "assistant");
  const result = await links?.run(withRecords({ listLinks }), {} as Principal, input, {} as CallContext);
  expect(result?.body).toEqual({ resource: "links", count: 1, data: [{ id: example.id, clicks: example.clicks }] });
  expect(listLinks.mock.lastCall?.[0]).toMatchObject({ fields: { names: ["id", "clicks"] } });
});

/** Returns what a file exports as constants of the type Operation. */
async function operationsIn(file: string): Promise<({ readonly name: string } | undefined)[]> {
  const source = readFileSync(join(import.meta.dirname, file), "utf8");
  const names = [...source.matchAll(/^export const (\w+): Operation(?:<\w+>)? = /gm)].map(([, name = ""]) => name);
  if (names.length === 0) return [];
  const exported = (await import(`./${file}`)) as Record<string, { readonly name: string } | undefined>;
  return names.map((name) => exported[name]);
}
