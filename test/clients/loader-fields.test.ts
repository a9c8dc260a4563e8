import { readFileSync } from "node:fs";
import { fieldNames, fieldsByKind, RESOURCE_NAMES, RESOURCES, type ResourceName } from "@brand-records/resources";
import { parse } from "yaml";
import { z } from "zod";

/** One promise: the loaders of examples/ know every field of every resource, with its type. loaders.release.test.ts runs them. */

interface Manifest {
  readonly streams: readonly { readonly name: string; readonly schema_loader: { readonly schema: { readonly properties: object } } }[];
}

/** The fields that every record has stand once in both. */
const COMMON = new Set(["id", "created_at", "updated_at"]);

/** A field's type in the manifest, and that of its column in the pipeline. */
function typesOf(resource: ResourceName, name: string): readonly [manifest: string, column: string] {
  const { numbers, times } = fieldsByKind(RESOURCES[resource]);
  const field = (RESOURCES[resource].schema.shape as Record<string, z.ZodType>)[name];
  const suffix = field instanceof z.ZodDefault ? "_or_null" : "";
  if (field instanceof z.ZodArray) return ["texts", "json"];
  if (numbers.includes(name)) return [`whole${suffix}`, "bigint"];
  return times.includes(name) ? [`time${suffix}`, "timestamp"] : [`text${suffix}`, "text"];
}

it.each(RESOURCE_NAMES)("%s", (resource) => {
  const own = fieldNames(RESOURCES[resource]).filter((name) => !COMMON.has(name));

  const { streams } = parse(readFileSync("examples/airbyte/manifest.yaml", "utf8")) as Manifest;
  expect(streams.find(({ name }) => name === resource)?.schema_loader.schema.properties).toEqual({
    $ref: "#/definitions/common",
    ...Object.fromEntries(own.map((name) => [name, { $ref: `#/definitions/${typesOf(resource, name)[0]}` }])),
  });

  const pipeline = readFileSync("examples/dlt/pipeline.py", "utf8");
  const fields = new RegExp(`^    "${resource}": \\{\n(.*?)^    \\}`, "ms").exec(pipeline)?.[1] ?? "";
  const columns = [...fields.matchAll(/"(\w+)": "([\w ]+)"/g)].flatMap(([, type, names = ""]) =>
    names.split(" ").map((name) => [name, type]),
  );
  expect(Object.fromEntries(columns)).toEqual(Object.fromEntries(own.map((name) => [name, typesOf(resource, name)[1]])));
});
