import { RESOURCES } from "@brand-records/resources";
import { parse } from "yaml";
import { inYaml, openApiDocument } from "./document.ts";
import type { JsonSchema as Schema } from "../../operations/json-schema.ts";

interface Operation {
  readonly responses: Record<string, { readonly content?: Record<string, { readonly schema: Schema }> }>;
}

const yaml = inYaml(openApiDocument());
const document = parse(yaml) as {
  paths: Record<string, Record<string, Operation>>;
  webhooks: Record<string, unknown>;
  components: { schemas: Record<string, Schema>; pathItems: Record<string, unknown> };
};

interface Found {
  readonly path: string;
  readonly schema: Schema;
}

const EXAMPLES = new Set(["example", "examples"]);

/** Every object of the document, with its path: any may be a schema. */
function* schemasIn(value: unknown, path = ""): Generator<Found> {
  if (typeof value !== "object" || value === null) return;
  yield { path, schema: value as Schema };
  for (const [name, part] of Object.entries(value)) if (!EXAMPLES.has(name)) yield* schemasIn(part, `${path}/${name}`);
}

const schemas = [...schemasIn(document)];
const pathsOf = (matches: (schema: Schema) => boolean): string[] => schemas.filter(({ schema }) => matches(schema)).map(({ path }) => path);
const typesOf = ({ type }: Schema): readonly unknown[] => (Array.isArray(type) ? type : [type]);
const property = (schema: string, name: string): Schema | undefined => document.components.schemas[schema]?.properties?.[name];

const CONSTANTS = [
  /List\/properties\/resource$/,
  /\/jsonrpc$/,
  /Event\/properties\/type$/,
  /Event\/properties\/data\/properties\/(resource|status)$/,
  /\/headers\/Idempotent-Replayed\/schema$/,
];

const INPUT_PARAMETER = /^\/paths\/[^ ]+\/get\/parameters\/\d+\/schema$/;

describe("generated clients", () => {
  it("read no integer as 32 bits that may exceed them", () => {
    const integers = schemas.filter(({ schema }) => typesOf(schema).includes("integer"));
    expect(integers.length).toBeGreaterThan(20);
    for (const { path, schema } of integers) {
      const { minimum = -Infinity, maximum = Infinity, format } = schema;
      expect({ path, format }).toEqual({ path, format: maximum < 2 ** 31 && minimum > -(2 ** 31) ? "int32" : "int64" });
    }
    for (const name of ["amount_centavos", "fee_centavos"]) expect(property("Payout", name)).toMatchObject({ format: "int64" });
  });

  it("keep every centavo of an amount in pesos, and know the smallest amount", () => {
    expect(pathsOf((schema) => typesOf(schema).includes("number") && schema["format"] !== "double")).toEqual([]);
    expect(property("CampaignPlanInput", "planning_budget")).toMatchObject({ type: "number", format: "double", minimum: 0.01 });
    expect(property("CampaignPlan", "planning_budget")).toMatchObject({ type: "number", format: "double" });
  });

  it("accept values that a later version adds: only inputs have closed lists of values", () => {
    const closed = pathsOf((schema) => schema.enum !== undefined).filter((path) => !INPUT_PARAMETER.test(path));
    expect(closed).toEqual(["/components/schemas/CampaignPlanInput/properties/campaign_type"]);
    expect(pathsOf((schema) => schema["additionalProperties"] === false)).toEqual(["/components/schemas/CampaignPlanInput"]);
    for (const [schema, name] of [
      ["Submission", "status"],
      ["Campaign", "type"],
      ["Payout", "failure_code"],
      ["Deposit", "method"],
      ["Payout", "currency"],
      ["ErrorObject", "code"],
    ] as const) {
      expect({ schema, name, is: property(schema, name) }).toMatchObject({ is: { "x-extensible-enum": expect.any(Array) } });
    }
  });

  it("find the known values of an open text in its description, too", () => {
    for (const { path, schema } of schemas) {
      const known = schema["x-extensible-enum"] as readonly string[] | undefined;
      for (const value of known ?? [])
        expect({ path, description: schema.description }).toMatchObject({ description: expect.stringContaining(value) });
    }
  });

  it("find constants only where they identify a list, an event or the protocol", () => {
    const elsewhere = pathsOf((schema) => schema.const !== undefined).filter((path) => !CONSTANTS.some((allowed) => allowed.test(path)));
    expect(elsewhere).toEqual([]);
    for (const { title, name } of Object.values(RESOURCES))
      expect(property(`${title}List`, "resource")).toEqual({ type: "string", const: name });
  });

  it("find lists of types only with null, and null as a separate type only in the id of a response", () => {
    expect(pathsOf(({ type }) => Array.isArray(type) && !(type.length === 2 && type[1] === "null"))).toEqual([]);
    // Java reads an integer as text, too: of oneOf it then finds two.
    expect(pathsOf(({ oneOf, allOf }) => oneOf !== undefined || allOf !== undefined)).toEqual([]);
    expect(pathsOf(({ anyOf }) => anyOf !== undefined)).toEqual(
      ["RpcMessage", "RpcAnswer"].map((name) => `/components/schemas/${name}/properties/id`),
    );
  });

  it("find every event among the components: nullable fields of inline schemas get lost", () => {
    const bodies = [...schemasIn(document.components.pathItems)].filter(({ path }) => path.endsWith("json/schema"));
    expect(bodies.map(({ schema }) => schema)).toEqual(
      ["SubmissionApproved", "SubmissionRejected", "PayoutPaid", "CampaignSettled"].map((name) => ({
        $ref: `#/components/schemas/${name}Event`,
      })),
    );
  });

  it("make no requests of webhooks: openapi-generator does of those that are no references, and its Python and TypeScript do not compile", () => {
    const references = Object.keys(document.components.pathItems).map((name) => ({ $ref: `#/components/pathItems/${name}` }));
    expect(Object.values(document.webhooks)).toEqual(references);
  });

  it("hold what outsiders wrote to no format, and a time to no pattern: one record would make a page unreadable", () => {
    const formats = new Set(schemas.flatMap(({ schema }) => (typeof schema["format"] === "string" ? [schema["format"]] : [])));
    expect([...formats].toSorted()).toEqual(["date", "date-time", "double", "int32", "int64", "uuid"]);
    for (const [schema, name] of [
      ["Submission", "content_url"],
      ["Link", "url"],
      ["Link", "destination_url"],
    ] as const)
      expect(property(schema, name)).toMatchObject({ type: "string", maxLength: 2_048 });
    expect(pathsOf((schema) => schema["format"] !== undefined && schema["pattern"] !== undefined)).toEqual([]);
    // Postgres holds a list's elements together to a length.
    expect(property("Campaign", "platforms")?.items).toEqual({ type: "string", minLength: 1 });
  });

  it("read the same of YAML 1.1, in which a time without quotes is a date", () => {
    expect(parse(yaml, { version: "1.1" })).toEqual(document);
  });

  it("have one type for every response to assistants", () => {
    const responses = document.paths["/api/mcp"]?.["post"]?.responses ?? {};
    const contents = Object.values(responses).flatMap(({ content }) => Object.values(content ?? {}));
    expect(contents.length).toBeGreaterThan(10);
    for (const { schema } of contents) expect(schema).toEqual({ $ref: "#/components/schemas/RpcAnswer" });
  });
});
