import { mapProperties, type JsonSchema, type ObjectSchema } from "../../operations/json-schema.ts";
import { OPERATIONS } from "../../operations/index.ts";
import type { Operation } from "../../operations/operation.ts";
import { errorResponses } from "./errors.ts";
import { RESPONSE_HEADERS } from "./headers.ts";
import { responseSchema } from "./response-schema.ts";

/** The operations as OpenAPI paths. */
export function operationPaths(): Record<string, object> {
  return Object.fromEntries(OPERATIONS.map((operation) => [operation.path, { [operation.method.toLowerCase()]: describe(operation) }]));
}

function describe({ name, tag, method, summary, description, input, output, errors }: Operation): object {
  return {
    operationId: name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase()),
    tags: [tag],
    summary,
    description,
    ...(method === "GET" && PAGINATION),
    ...(input.from === "query"
      ? { parameters: parametersOf(input).map((described) => (isShared(described) ? parameterRef(described) : described)) }
      : { requestBody: { required: true, ...jsonContent(input) } }),
    responses: { ...successResponses(output), ...(method === "GET" ? SHARED_ERROR_REFS : errorResponses(errors)) },
  };
}

/** Speakeasy's and Fern's generators read these, and write clients that walk a list. */
const PAGINATION = {
  "x-speakeasy-pagination": {
    type: "cursor",
    inputs: [{ name: "cursor", in: "parameters", type: "cursor" }],
    outputs: { nextCursor: "$.next_cursor", results: "$.data" },
  },
  "x-fern-pagination": { cursor: "$request.cursor", next_cursor: "$response.next_cursor", results: "$response.data" },
};

function successResponses({ responses, ...output }: Operation["output"]): Record<string, object> {
  const described = Object.entries(responses).map(([status, { description, headers }]) => [
    status,
    { description, headers: { ...RESPONSE_HEADERS, ...headers }, ...jsonContent(output) },
  ]);
  return Object.fromEntries(described) as Record<string, object>;
}

const jsonContent = ({ component, example }: { readonly component: string; readonly example: object }) => ({
  content: { "application/json": { schema: schemaRef(component), example } },
});

const schemaRef = (component: string) => ({ $ref: `#/components/schemas/${component}` });

/** The errors of all reading operations. They appear once among the components, and the operations refer to them. */
const SHARED_ERRORS = errorResponses([...new Set(OPERATIONS.filter(({ method }) => method === "GET").flatMap(({ errors }) => errors))]);
export const sharedResponses = Object.fromEntries(Object.entries(SHARED_ERRORS).map(([status, response]) => [`Error${status}`, response]));
const SHARED_ERROR_REFS = Object.fromEntries(
  Object.keys(SHARED_ERRORS).map((status) => [status, { $ref: `#/components/responses/Error${status}` }]),
);

interface Parameter {
  readonly name: string;
  readonly schema: JsonSchema;
}

type QueryInput = Extract<Operation["input"], { readonly from: "query" }>;

function parametersOf({ parameters, schema: { properties } }: QueryInput): Parameter[] {
  return Object.entries(parameters).map(([name, texts]) => {
    const { description: _description, ...schema } = properties[name] ?? {};
    return { name, in: "query", ...texts, schema };
  });
}

const ALL_PARAMETERS = OPERATIONS.flatMap(({ input }) => (input.from === "body" ? [] : parametersOf(input)));

/** Whether every operation that has a parameter of this name describes it alike: it appears once, among the components. */
function isShared(parameter: Parameter): boolean {
  const text = JSON.stringify(parameter);
  return ALL_PARAMETERS.every((other) => other.name !== parameter.name || JSON.stringify(other) === text);
}

const parameterRef = ({ name }: Parameter) => ({ $ref: `#/components/parameters/${name}` });

/** The query parameters that operations share, by name. */
export function operationParameters(): Record<string, object> {
  return Object.fromEntries(ALL_PARAMETERS.filter(isShared).map((parameter) => [parameter.name, parameter]));
}

/** The inputs and outputs of all operations, by component name. */
export function operationSchemas(): Record<string, JsonSchema> {
  return Object.fromEntries(
    OPERATIONS.flatMap(({ input, output }) => [
      ...(input.from === "body" ? [[input.component, nullableOptions(input.schema)] as const] : []),
      ...outputComponents(output),
    ]),
  );
}

/** A body may hold null for an optional field. */
function nullableOptions(schema: ObjectSchema): JsonSchema {
  const properties = mapProperties(schema, (property, name) => {
    if (schema.required?.includes(name) === true) return property;
    const { type, ...rest } = property;
    return { type: [String(type), "null"], ...rest };
  });
  return { ...schema, properties };
}

/** The schema, preceded by those of its items that have a title. */
function outputComponents({ component, schema }: Operation["output"]): [name: string, schema: JsonSchema][] {
  const nested: [string, JsonSchema][] = [];
  const properties = mapProperties(schema, (property) => {
    const { items } = property;
    if (items?.title === undefined) return property;
    nested.push([items.title, responseSchema(items)]);
    return { ...property, items: schemaRef(items.title) };
  });
  return [...nested, [component, { ...schema, properties }]];
}
