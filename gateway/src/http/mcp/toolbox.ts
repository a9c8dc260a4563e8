import { OPERATIONS } from "../../operations/index.ts";
import { type JsonSchema, mapProperties, type ObjectSchema } from "../../operations/json-schema.ts";
import type { Operation } from "../../operations/operation.ts";
import { manilaWeekday } from "../../manila.ts";
import { invalidParams } from "./json-rpc.ts";
import type { InstructionFacts } from "./server-info.ts";

/** The operations as assistants find and see them. */
export type Toolbox = ReturnType<typeof createToolbox>;

/** @param operations in the order in which assistants see them */
export function createToolbox(operations: readonly Operation[]) {
  const byName: ReadonlyMap<string, Operation> = new Map(operations.map((operation) => [operation.name, operation]));
  /** Prepared once for each set of permissions that makes a difference. */
  const listings = new Map<string, string>();
  const visibleTo = (permissions: readonly string[]): readonly Operation[] =>
    operations.filter(({ permission }) => permission === undefined || permissions.includes(permission));
  const namesOf = (visible: readonly Operation[]): string => visible.map(({ name }) => name).join(", ");
  return {
    /**
     * Finds a tool whether it is listed for these permissions or not: the call reports the missing permission.
     *
     * @throws RpcError if the tool does not exist; its message names the listed ones
     */
    named(name: string, permissions: readonly string[]): Operation {
      const operation = byName.get(name);
      if (operation !== undefined) return operation;
      throw invalidParams(`There is no such tool. The tools are ${namesOf(visibleTo(permissions))}.`);
    },
    /**
     * The tools that a key with these permissions sees, as JSON text of an array: the same bytes all day, so that clients
     * and models can cache them.
     */
    listingFor(permissions: readonly string[], { publicUrl, now }: Pick<InstructionFacts, "publicUrl" | "now">): string {
      const visible = visibleTo(permissions);
      const id = namesOf(visible);
      const listing = listings.get(id) ?? JSON.stringify(visible.map(toolListing));
      listings.set(id, listing);
      return listing.replaceAll("{today}", manilaWeekday(now)).replaceAll("{address}", () => JSON.stringify(publicUrl).slice(1, -1));
    },
  };
}

export const TOOLBOX = createToolbox(OPERATIONS);

/** @see https://modelcontextprotocol.io/specification/2026-07-28/server/tools#tool */
export interface ToolListing {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: ObjectSchema;
  readonly outputSchema: ObjectSchema;
  readonly annotations: {
    readonly readOnlyHint: boolean;
    readonly destructiveHint: boolean;
    readonly idempotentHint: boolean;
    readonly openWorldHint: boolean;
  };
  readonly _meta: { readonly [UNTRUSTED]: readonly string[] };
}

/** Names the fields of the result, or of its records, that outsiders wrote: clients may mark or filter what a model may not trust. */
const UNTRUSTED = "brand-records/untrustedFields";

/** An operation as `tools/list` shows it. */
function toolListing({ name, title, guide, method, input, output, untrusted }: Operation): ToolListing {
  return {
    name,
    title,
    description: guide,
    inputSchema: { ...input.schema, properties: mapProperties(input.schema, bareArgument) },
    outputSchema: { type: "object", properties: mapProperties(output.schema, bareType) },
    annotations: { readOnlyHint: method === "GET", destructiveHint: false, idempotentHint: true, openWorldHint: false },
    _meta: { [UNTRUSTED]: untrusted },
  };
}

/** Some clients of assistants refuse formats and patterns. Bounds of texts and lists cost tokens, and a refusal names them. */
function bareArgument({ items, ...schema }: JsonSchema): JsonSchema {
  const { format: _f, pattern: _p, minLength: _l, maxLength: _m, minItems: _n, maxItems: _o, ...bare } = schema;
  return { ...bare, ...(items && { items: bareArgument(items) }) };
}

/**
 * Types alone: each assistant that connects pays for every byte, and models seldom see an output's schema. Clients validate with it, so
 * records are open: some of their fields may be left out, and a later version adds others.
 */
function bareType({ type = "object", items }: JsonSchema): JsonSchema {
  return { type, ...(items && { items: bareType(items) }) };
}
