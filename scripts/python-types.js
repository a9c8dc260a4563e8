// Writes the types of clients/python from the OpenAPI description. `npm run client-types` runs it; with `--check` it compares them.
import { openApiDocument } from "../gateway/dist/http/openapi/document.js";
import { describedTypes } from "./described-types.js";
import { writeOrCheck } from "./generated-file.js";

const FOLDER = "clients/python/src/brand_records/generated";
const NOTICE = "# Written by `npm run client-types` from the served OpenAPI description. Do not edit.\n";

const { lists, planInput, plan, events, eventTypes, errorCodes, problemDetail } = describedTypes(openApiDocument());

/** Names of sets of values, by the values: two fields with the same ones share a type. */
const valueSets = new Map();
const declared = [];

/** @param {string} name @param {string | undefined} description @param {string[]} fields @param {string} bases */
function declare(name, description, fields, bases = "TypedDict") {
  declared.push(`class ${name}(${bases}):\n${docstring(description)}${fields.join("")}`.trimEnd());
}

const docstring = (text, indent = "    ") =>
  text === undefined ? "" : `${indent}"""${text.replaceAll("\\", "\\\\").replaceAll('"""', "'''").replaceAll(/\s+/g, " ")}"""\n\n`;

const field = (name, type, { description }) => `    ${name}: ${type}\n${docstring(description)}`;

function declareObject(name, { description, properties, required = [] }, typeOfField = typeOf) {
  const fields = Object.entries(properties).map(([key, schema]) => {
    const type = typeOfField(schema, name, key);
    return field(key, required.includes(key) ? type : `NotRequired[${type}]`, schema);
  });
  declare(name, description, fields);
}

/** Closed for type checkers, so that they find a mistyped value; the service's later versions may send others. */
function typeOf(schema, owner, key) {
  const types = [schema.type].flat();
  return types.map((type) => (type === "null" ? "None" : valueType(type, schema, owner, key))).join(" | ");
}

function valueType(type, schema, owner, key) {
  const values = schema["x-extensible-enum"] ?? schema.enum;
  if (schema.const !== undefined) return `Literal[${JSON.stringify(schema.const)}]`;
  if (values !== undefined) return valueSet(values, owner, key);
  if (type === "array") return `list[${typeOf(schema.items, owner, key)}]`;
  if (type === "object") {
    declareObject(`${owner}${pascal(key)}`, schema);
    return `${owner}${pascal(key)}`;
  }
  const name = { string: "str", integer: "int", number: "float", boolean: "bool" }[type];
  if (name === undefined) throw new Error(`no Python type for ${JSON.stringify(schema)}`);
  return name;
}

function valueSet(values, owner, key) {
  const literal = `Literal[${values.map((value) => JSON.stringify(value)).join(", ")}]`;
  const name = valueSets.get(literal) ?? (key === "currency" ? "Currency" : `${owner}${pascal(key)}`);
  valueSets.set(literal, name);
  return name;
}

const pascal = (name) => name.replaceAll(/(?:^|_)([a-z])/g, (_, letter) => letter.toUpperCase());

/** What Python has types for. */
const inputType = (schema, owner, key) => {
  const type = typeOf(schema, owner, key);
  return { date: `${type} | date`, "date-time": `${type} | datetime` }[schema.format] ?? type;
};

for (const { component, schema } of lists) declareObject(component, schema);
declare(
  "ListOptions",
  "Options of every list.",
  [
    field("limit", "int", { description: "Records on a page, 1 to 200. Default: 200." }),
    field("cursor", "str | None", { description: "Where to start: `next_cursor` of an earlier page of the same list and filters." }),
    field("deadline", "float", { description: "Seconds for a page, with all repetitions and waits. Default: the client's." }),
  ],
  "TypedDict, total=False",
);
for (const { component, filters } of lists) {
  const fields = filters.map(({ name, schema, description }) =>
    field(name, `${inputType(schema, component, name)} | None`, { description }),
  );
  declare(`${component}Filters`, "Narrows a list; several filters narrow it together.", fields, "ListOptions, total=False");
}
// The call makes what is missing, and takes a deadline as lists do.
const required = planInput.required.filter((name) => name !== "request_id");
const deadline = { type: "number", description: "Seconds for the call, with all repetitions and waits. Default: the client's." };
declareObject("CampaignPlanInput", { ...planInput, required, properties: { ...planInput.properties, deadline } }, inputType);
declareObject("CampaignPlan", plan);
for (const { name, schema } of events) declareObject(name, schema);
declareObject("ProblemDetail", problemDetail);
const { type: _, data, ...envelope } = events[0].schema.properties;
declare("UnknownEvent", "An event of a type that a later version of the service added.", [
  field("type", "str", {}),
  ...Object.entries(envelope).map(([key, schema]) => field(key, typeOf(schema, "UnknownEvent", key), schema)),
  field("data", "dict[str, Any]", data),
]);

/** What `from .generated.api import *` takes. */
const exported = [
  ...valueSets.values(),
  "ResourceName",
  "RESOURCES",
  "EventType",
  "EVENT_TYPES",
  "ServiceErrorCode",
  "BrandEvent",
  "AnyEvent",
];
exported.push(...declared.map((text) => /class (\w+)/.exec(text)[1]));

const union = (names) => `Union[${names.join(", ")}]`;
const tuple = (values) => `(${values.map((value) => JSON.stringify(value)).join(", ")})`;
const api = [
  NOTICE,
  "from __future__ import annotations\n\n",
  "from datetime import date, datetime\nfrom typing import TYPE_CHECKING, Any, Literal, TypedDict, Union\n\n",
  "if TYPE_CHECKING:\n    from typing_extensions import NotRequired\n\n",
  `__all__ = [\n${exported.map((name) => `    "${name}",\n`).join("")}]\n\n`,
  `ResourceName = Literal[${lists.map(({ resource }) => JSON.stringify(resource)).join(", ")}]\n`,
  `RESOURCES: tuple[ResourceName, ...] = ${tuple(lists.map(({ resource }) => resource))}\n`,
  `EventType = Literal[${eventTypes.map((type) => JSON.stringify(type)).join(", ")}]\n`,
  `EVENT_TYPES: tuple[EventType, ...] = ${tuple(eventTypes)}\n`,
  `ServiceErrorCode = Literal[${errorCodes.map((code) => `\n    ${JSON.stringify(code)},`).join("")}\n]\n`,
  ...[...valueSets].map(([literal, name]) => `${name} = ${literal}\n`),
  "\n\n",
  declared.join("\n\n\n"),
  "\n\n\n",
  `BrandEvent = ${union(events.map(({ name }) => name))}\n"""An event of a type that this version knows."""\n\n`,
  "AnyEvent = Union[BrandEvent, UnknownEvent]\n\n",
  `RECORD_TYPES: dict[ResourceName, type] = {\n${lists.map(({ resource, component }) => `    "${resource}": ${component},\n`).join("")}}\n`,
].join("");

const methods = lists.map(
  ({
    resource,
    component,
    schema,
  }) => `    def ${resource}(self, **options: Unpack[api.${component}Filters]) -> RecordList[api.${component}]:
${docstring(schema.description, "        ")}        return self.list("${resource}", **options)
`,
);
const listsModule = `${NOTICE}
from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ..record_list import RecordList
    from . import api


class Lists:
    """A method for each list, with its filters and records."""

    def list(self, resource: api.ResourceName, **options: Any) -> RecordList[Any]:
        """Lists any resource, by its name."""
        raise NotImplementedError

${methods.join("\n")}`;

await writeOrCheck(`${FOLDER}/api.py`, api, "client-types");
await writeOrCheck(`${FOLDER}/lists.py`, listsModule, "client-types");
