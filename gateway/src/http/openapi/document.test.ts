import { RESOURCES } from "@brand-records/resources";
import { parse } from "yaml";
import { openApiDocument } from "./document.ts";
import type { JsonSchema as Schema } from "../../operations/json-schema.ts";

interface Operation {
  readonly responses: Record<string, { readonly content?: Record<string, { readonly schema: Schema }> }>;
}

const document = parse(openApiDocument("https://records.example")) as {
  paths: Record<string, Record<string, Operation>>;
  webhooks: Record<string, unknown>;
  components: { schemas: Record<string, Schema> };
};

interface Found {
  readonly path: string;
  readonly schema: Schema;
}

const EXAMPLES = new Set(["example", "examples"]);

/** Every object of the document that is a schema, or looks like one, with where it stands. */
function* schemasIn(value: unknown, path = ""): Generator<Found> {
  if (typeof value !== "object" || value === null) return;
  yield { path, schema: value as Schema };
  for (const [name, part] of Object.entries(value)) if (!EXAMPLES.has(name)) yield* schemasIn(part, `${path}/${name}`);
}

const schemas = [...schemasIn(document)];
const where = (matches: (schema: Schema) => boolean): string[] => schemas.filter(({ schema }) => matches(schema)).map(({ path }) => path);
const typesOf = ({ type }: Schema): readonly unknown[] => (Array.isArray(type) ? type : [type]);
const property = (schema: string, name: string): Schema | undefined => document.components.schemas[schema]?.properties?.[name];

const CONSTANTS = [
  /List\/properties\/resource$/,
  /\/jsonrpc$/,
  /^\/webhooks\/.*\/schema\/properties\/type$/,
  /^\/webhooks\/.*\/data\/properties\/(resource|status)$/,
  /\/headers\/Idempotent-Replayed\/schema$/,
];

describe("clients that are generated from the description", () => {
  it("read no integer as 32 bits that may be larger", () => {
    const integers = schemas.filter(({ schema }) => typesOf(schema).includes("integer"));
    expect(integers.length).toBeGreaterThan(20);
    for (const { path, schema } of integers) {
      const { minimum = -Infinity, maximum = Infinity, format } = schema;
      expect({ path, format }).toEqual({ path, format: maximum < 2 ** 31 && minimum > -(2 ** 31) ? "int32" : "int64" });
    }
    for (const name of ["amount_centavos", "fee_centavos"]) expect(property("Payout", name)).toMatchObject({ format: "int64" });
  });

  it("keep every centavo of an amount in pesos, and know the smallest", () => {
    expect(where((schema) => typesOf(schema).includes("number") && schema["format"] !== "double")).toEqual([]);
    expect(property("CampaignPlanInput", "planning_budget")).toMatchObject({ type: "number", format: "double", minimum: 0.01 });
    expect(property("CampaignPlan", "planning_budget")).toMatchObject({ type: "number", format: "double" });
  });

  it("take values that a later version adds: only what is sent has closed lists of values", () => {
    expect(where((schema) => schema.enum !== undefined)).toEqual(["/components/schemas/CampaignPlanInput/properties/campaign_type"]);
    expect(where((schema) => schema["additionalProperties"] === false)).toEqual(["/components/schemas/CampaignPlanInput"]);
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

  it("are told the known values of an open text in its description, too", () => {
    for (const { path, schema } of schemas) {
      const known = schema["x-extensible-enum"] as readonly string[] | undefined;
      for (const value of known ?? [])
        expect({ path, description: schema.description }).toMatchObject({ description: expect.stringContaining(value) });
    }
  });

  it("find constants only where they tell a list, an event or the protocol", () => {
    const elsewhere = where((schema) => schema.const !== undefined).filter((path) => !CONSTANTS.some((allowed) => allowed.test(path)));
    expect(elsewhere).toEqual([]);
    for (const { title, name } of Object.values(RESOURCES))
      expect(property(`${title}List`, "resource")).toEqual({ type: "string", const: name });
  });

  it("meet no list of types but one with null, and null as a type of its own only in the id of an answer", () => {
    expect(where(({ type }) => Array.isArray(type) && !(type.length === 2 && type[1] === "null"))).toEqual([]);
    expect(where(({ anyOf, allOf }) => anyOf !== undefined || allOf !== undefined)).toEqual([]);
    expect(where(({ oneOf }) => oneOf !== undefined)).toEqual(
      ["RpcMessage", "RpcAnswer"].map((name) => `/components/schemas/${name}/properties/id`),
    );
  });

  it("find all of an event with it: some drop components to which only webhooks refer", () => {
    expect([...schemasIn(document.webhooks)].filter(({ schema }) => schema["$ref"] !== undefined)).toEqual([]);
  });

  it("have one type for what is answered to assistants", () => {
    const responses = document.paths["/api/mcp"]?.["post"]?.responses ?? {};
    const answered = Object.values(responses).flatMap(({ content }) => Object.values(content ?? {}));
    expect(answered.length).toBeGreaterThan(10);
    for (const { schema } of answered) expect(schema).toEqual({ $ref: "#/components/schemas/RpcAnswer" });
  });
});
