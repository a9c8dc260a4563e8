import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { Ajv, type AnySchemaObject, type ValidateFunction } from "ajv";
import { parse } from "yaml";
import type { KubernetesObject } from "../rendered-chart.ts";
import { customResourceFiles } from "./crds.ts";
import { KUBERNETES, moduleFolder } from "./programs.ts";

interface VersionedKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

const keyOf = ({ group, version, kind }: VersionedKind): string => `${group === "" ? version : `${group}/${version}`} ${kind}`;

/** What says of each object what a Kubernetes API server refuses by its schema alone. Unknown fields are refused, as by `--validate=strict`. */
export async function objectValidator(): Promise<(object: KubernetesObject) => string[]> {
  const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: false, logger: false });
  const validators = new Map<string, () => ValidateFunction>();
  const { definitions } = await kubernetesDescription();
  ajv.addSchema({ $id: "kubernetes", definitions });
  for (const [name, definition] of Object.entries(definitions)) {
    for (const kind of (definition["x-kubernetes-group-version-kind"] ?? []) as readonly VersionedKind[]) {
      validators.set(keyOf(kind), () => ajv.compile({ $ref: `kubernetes#/definitions/${name}` }));
    }
  }
  for (const { group, names, versions } of await customResources()) {
    for (const { name: version, schema } of versions) {
      validators.set(keyOf({ group, version, kind: names.kind }), () => ajv.compile(schema.openAPIV3Schema));
    }
  }
  return (object) => {
    const { kind, metadata } = object;
    const key = `${object["apiVersion"]} ${kind}`;
    const validate = validators.get(key)?.();
    if (validate === undefined) return [`${key}: no such kind`];
    if (validate(object)) return [];
    return (validate.errors ?? []).map(
      ({ instancePath, message, params }) => `${key} ${metadata.name}${instancePath}: ${message} ${JSON.stringify(params)}`,
    );
  };
}

async function kubernetesDescription(): Promise<{ readonly definitions: Readonly<Record<string, AnySchemaObject>> }> {
  const folder = await moduleFolder(`k8s.io/kubernetes@${KUBERNETES}`);
  const { definitions } = closed(JSON.parse(await readFile(join(folder, "api/openapi-spec/swagger.json"), "utf8"))) as {
    definitions: Record<string, AnySchemaObject>;
  };
  // The description allows text alone, but 512 and 0.5 are quantities, too.
  return { definitions: { ...definitions, "io.k8s.apimachinery.pkg.api.resource.Quantity": { type: ["string", "number"] } } };
}

interface CustomResource {
  readonly group: string;
  readonly names: { readonly kind: string };
  readonly versions: readonly { readonly name: string; readonly schema: { readonly openAPIV3Schema: AnySchemaObject } }[];
}

async function customResources(): Promise<CustomResource[]> {
  const files = await customResourceFiles();
  return Promise.all(files.map(async (file) => (closed(parse(await readFile(file, "utf8"))) as { spec: CustomResource }).spec));
}

/** Refuses unknown fields wherever a schema lists its fields. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== "object" || schema === null) return schema;
  const fields = Object.fromEntries(Object.entries(schema).map(([name, value]) => [name, closed(value)]));
  // Go's form of a pattern that ignores case, which JavaScript refuses.
  if (String(fields["pattern"]).includes("(?i)")) delete fields["pattern"];
  if (fields["format"] === "int-or-string" || fields["x-kubernetes-int-or-string"] === true) return { type: ["integer", "string"] };
  const isClosed = fields["type"] === "object" && typeof fields["properties"] === "object" && fields["additionalProperties"] === undefined;
  return isClosed && fields["x-kubernetes-preserve-unknown-fields"] !== true ? { ...fields, additionalProperties: false } : fields;
}
