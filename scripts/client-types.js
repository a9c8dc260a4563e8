// Writes the types of @brand-records/client from the OpenAPI description. `npm run client-types` runs it.
//
//     node scripts/client-types.js                writes them
//     node scripts/client-types.js --check [URL]  compares them with the description that the service at the URL serves
import process from "node:process";
import { format, resolveConfig } from "prettier";
import { openApiDocument } from "../gateway/dist/http/openapi/document.js";
import { describedTypes } from "./described-types.js";
import { writeOrCheck } from "./generated-file.js";

const TARGET = "clients/client/src/generated/api.ts";

const NOTICE = "// Written by `npm run client-types` from the served OpenAPI description. Do not edit.\n\n";

/**
 * Returns the source of TARGET. Texts of records with known values stay open to others, which a later version may add.
 *
 * @param {any} description the OpenAPI description, parsed
 * @returns {string}
 */
function clientTypes(description) {
  const { lists, planInput, plan, events, eventTypes, errorCodes } = describedTypes(description);
  const records = lists.map(({ component, schema }) => recordDeclaration(component, schema));
  const filters = lists.map(filterInterface);
  return [
    NOTICE,
    "/** Texts with known values also hold values that a later version of the service adds. */\n",
    "export type OpenText = string & {};\n\n",
    "/** The lists, by their names in paths. */\n",
    `export const RESOURCES = ${JSON.stringify(lists.map(({ resource }) => resource))} as const;\n`,
    "export type ResourceName = (typeof RESOURCES)[number];\n\n",
    ...records,
    "/** The record of each list. */\n",
    `export interface RecordOf { ${lists.map(({ resource, component }) => `${resource}: ${component};`).join("\n")} }\n\n`,
    ...filters,
    "/** The filters of each list. */\n",
    `export interface FiltersOf { ${lists.map(({ resource, component }) => `${resource}: ${component}Filters;`).join("\n")} }\n\n`,
    declaration("CampaignPlanInput", planInput),
    declaration("CampaignPlan", plan),
    ...events.map(({ name, schema }) => declaration(name, schema)),
    "/** An event of a type that this version knows. */\n",
    `export type BrandEvent = ${events.map(({ name }) => name).join(" | ")};\n\n`,
    `export const EVENT_TYPES = ${JSON.stringify(eventTypes)} as const;\n`,
    "export type EventType = (typeof EVENT_TYPES)[number];\n\n",
    "/** Codes of the service's errors. */\n",
    `export type ServiceErrorCode = ${literals(errorCodes)};\n`,
  ].join("");
}

const declaration = (name, schema, knownTexts = {}) =>
  `${comment(schema.description)}export interface ${name} ${objectType(schema, knownTexts)}\n\n`;

/** A record, after a type for each of its texts with known values, which has those alone. */
function recordDeclaration(component, schema) {
  const knownTexts = knownTextsOf(component, schema);
  const types = Object.entries(knownTexts).map(([field, name]) => {
    const values = literals(schema.properties[field]["x-extensible-enum"]);
    return `/** The values of \`${field}\` that this version knows. */\nexport type ${name} = ${values};\n\n`;
  });
  return types.join("") + declaration(component, schema, knownTexts);
}

/** The names of those types, such as `PayoutStatus`, by the fields. A single value needs none. */
const knownTextsOf = (component, { properties }) =>
  Object.fromEntries(
    Object.entries(properties)
      .filter(([, schema]) => schema["x-extensible-enum"]?.length > 1)
      .map(([field]) => [field, component + field.replaceAll(/(?:^|_)([a-z])/g, (_, letter) => letter.toUpperCase())]),
  );

function objectType({ properties, required = [] }, knownTexts = {}) {
  const fields = Object.entries(properties).map(([name, schema]) => {
    const type = typeOf(schema, knownTexts[name]);
    return `${comment(schema.description)}${name}${required.includes(name) ? `: ${type}` : `?: ${type} | undefined`};`;
  });
  return `{ ${fields.join("\n")} }`;
}

/**
 * @param {any} schema
 * @param {string} [name] of the type with its known values
 * @returns {string}
 */
function typeOf(schema, name) {
  const types = [schema.type].flat();
  const names = types.map((type) => (type === "null" ? "null" : valueType(type, schema, name)));
  return names.join(" | ");
}

function valueType(type, schema, name) {
  const known = schema["x-extensible-enum"];
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (known !== undefined) return `${name ?? literals(known)} | OpenText`;
  if (schema.enum !== undefined) return literals(schema.enum);
  if (type === "array") return `${arrayItem(schema.items)}[]`;
  if (type === "object") return objectType(schema);
  if (type === "integer" || type === "number") return "number";
  if (type === "string" || type === "boolean") return type;
  throw new Error(`no TypeScript type for ${JSON.stringify(schema)}`);
}

const arrayItem = (items) => (/[ |]/.test(typeOf(items)) ? `(${typeOf(items)})` : typeOf(items));

const literals = (values) => values.map((value) => JSON.stringify(value)).join(" | ");

function filterInterface({ component, schema, filters }) {
  const knownTexts = knownTextsOf(component, schema);
  const fields = filters.map(
    ({ name, description, schema }) => `${comment(description)}${name}?: ${filterType(schema, knownTexts[name])};`,
  );
  return `/** Narrows a list; several filters narrow it together. */\nexport interface ${component}Filters { ${fields.join("\n")} }\n\n`;
}

/** Known values alone: a mistyped status does not compile. */
function filterType(schema, name) {
  if (schema.enum !== undefined) return `${name} | undefined`;
  return schema.format === "date-time" ? "string | Date | undefined" : "string | undefined";
}

/** @param {string | undefined} text */
const comment = (text) => (text === undefined ? "" : `\n/** ${text.replaceAll("*/", "*\\/").replaceAll(/\s+/g, " ")} */\n`);

const url = process.argv.find((word) => word.startsWith("http"));
const description = url === undefined ? openApiDocument() : await (await fetch(`${url}/openapi/service.json`)).json();
const source = await format(clientTypes(description), { ...(await resolveConfig(TARGET)), filepath: TARGET });
await writeOrCheck(TARGET, source, "client-types");
