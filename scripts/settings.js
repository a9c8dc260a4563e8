// Writes docs/settings.md, and what the chart knows of settings, from the schemas with which the compiled processes read their environment.
// `npm run settings` runs it; with --check it compares.
import { readFile } from "node:fs/promises";
import { ENVIRONMENT } from "../brandctl/dist/environment.js";
import { Settings as consoleSettings } from "../console/server/dist/config.js";
import { Settings as startSettings } from "../deploy/embedded/dist/config.js";
import { Settings as observeSettings } from "../deploy/embedded/dist/observe/config.js";
import { Settings as gatewaySettings } from "../gateway/dist/config.js";
import { Settings as accountsSettings } from "../services/accounts/dist/config.js";
import { Settings as plansSettings } from "../services/plans/dist/config.js";
import { Settings as recordsSettings } from "../services/records/dist/config.js";
import { Settings as webhookSettings } from "../services/webhook/dist/config.js";
import { format, resolveConfig } from "prettier";
import { writeOrCheck } from "./generated-file.js";

const PROCESSES = {
  gateway: gatewaySettings,
  console: consoleSettings,
  accounts: accountsSettings,
  plans: plansSettings,
  records: recordsSettings,
  webhook: webhookSettings,
};

const INTRODUCTION = `# Settings

\`npm run settings\` writes this page from the schemas with which each process reads its environment.

- A process reads its environment once, when it starts. An empty variable counts as not set.
- If settings are wrong, the process prints every problem, never a value, and exits with 78. A supervisor must not restart it then.
- A process has the settings of each section that names it.
- **secret**: the value is or contains a password or a key. No log line, trace, metric or message contains it. Instead of \`NAME\`, \`NAME_FILE\` may name a
  file with the value, whose last line break does not count. brandctl reads such a file likewise.
- A port of 0 is one that the system chooses; the process logs it.
- The usual variables of Node apply too: \`NODE_EXTRA_CA_CERTS\` adds your own authority to those that TLS connections trust, receivers' among them. So do
  the other settings of OpenTelemetry's SDK ([tracing](tracing.md)); \`OTEL_EXPORTER_OTLP_HEADERS\` is a secret.

## Several processes on one machine

The default ports suit a machine, container or pod to each process: gRPC 7000, admin 9090, HTTP 8080 (gateway) and 8081 (console). Processes
that share a machine need different ones. \`npm start\` chooses free ports. [deploy/systemd](../deploy/systemd/README.md) has a unit for each process,
with ports that differ and secrets as credentials.
`;

/** Returns the page. @throws an error that names every setting without a text */
async function settingsPage() {
  const tables = Object.entries(PROCESSES).map(([name, schema]) => [name, rowsOf(schema)]);
  const start = rowsOf(startSettings);
  const observe = rowsOf(observeSettings);
  requireTexts([...tables, ["npm start", start], ["npm run observe", observe]]);
  const text = [
    INTRODUCTION,
    ...bySharing(tables).map(([names, rows]) => section(titleOf(names), rows)),
    section(
      "npm start",
      start,
      "All other variables are passed on to the processes. Ports, addresses and keys are chosen or made unless they are set.",
    ),
    section("npm run observe", observe),
    section(
      "brandctl",
      ENVIRONMENT.map(({ names, what, isSecret }) => ({
        name: names.join(", "),
        values: "",
        fallback: "none",
        what,
        isSecret: isSecret === true,
      })),
      "Flags override them; `brandctl --help` lists both. The `OTEL_…` settings of every process apply too.",
    ),
  ].join("\n");
  return format(text, { ...(await resolveConfig("docs/settings.md")), parser: "markdown" });
}

/** Variables of Node, OpenTelemetry and the C library. */
const USUAL_NAMES = [{ pattern: "^(NODE_|OTEL_)[A-Z0-9_]+$" }, { const: "TZ" }];

/**
 * Definitions of the chart's schema: the settings that all processes take together, `settings`, and those of each, such as
 * `gatewaySettings`, by their names.
 */
function settingsDefinitions() {
  const namesOf = (schema) => rowsOf(schema).map(({ name }) => name);
  const definition = (names) => ({
    type: "object",
    propertyNames: { anyOf: [{ enum: [...new Set(names)].toSorted((a, b) => (a < b ? -1 : 1)) }, ...USUAL_NAMES] },
    additionalProperties: { type: "string" },
  });
  const each = Object.entries(PROCESSES).map(([name, schema]) => [`${name}Settings`, definition(namesOf(schema))]);
  return { settings: definition(Object.values(PROCESSES).flatMap(namesOf)), ...Object.fromEntries(each) };
}

/** Groups the rows by the processes that have the very same setting. The most shared come first. */
function bySharing(tables) {
  const owners = new Map();
  for (const [name, rows] of tables) {
    for (const row of rows) {
      const key = JSON.stringify(row);
      owners.set(key, [...(owners.get(key) ?? []), name]);
    }
  }
  const groups = new Map();
  for (const [key, names] of owners)
    groups.set(names.join(), { names, rows: [...(groups.get(names.join())?.rows ?? []), JSON.parse(key)] });
  return [...groups.values()].toSorted((one, other) => other.names.length - one.names.length).map(({ names, rows }) => [names, rows]);
}

const titleOf = (names) =>
  names.length === Object.keys(PROCESSES).length ? "Every process" : new Intl.ListFormat("en").format(names).replace(", and", " and");

function section(title, rows, note = "") {
  const hasValues = rows.some(({ values }) => values !== "");
  const lines = rows.map(({ name, values, fallback, what, isSecret }) => {
    const cells = [
      name.replaceAll(/[A-Z_]{2,}/g, "`$&`"),
      ...(hasValues ? [values, fallback] : []),
      isSecret ? `**secret** ${what}` : what,
    ];
    return `| ${cells.join(" | ")} |`;
  });
  const head = hasValues ? ["Setting", "Values", "Default", "What"] : ["Setting", "What"];
  return [`## ${title}`, "", note, "", `| ${head.join(" | ")} |`, `|${"-|".repeat(head.length)}`, ...lines, ""].join("\n");
}

function requireTexts(tables) {
  const missing = tables.flatMap(([name, rows]) => rows.filter(({ what }) => what === "").map((row) => `${name}: ${row.name}`));
  if (missing.length > 0) throw new Error(`These settings have no description:\n${missing.join("\n")}`);
}

function rowsOf(schema) {
  let object = schema;
  while (object.def.type === "pipe") object = object.def.in;
  return Object.entries(object.shape).map(([name, setting]) => ({ name, ...describe(setting) }));
}

/** Reads the metadata of a setting and of the schemas in it, the outermost of which wins, and its default. */
function describe(setting) {
  const meta = {};
  let [fallback, values] = ["**required**", "text"];
  for (let schema = setting; schema !== undefined; schema = schema.def.in ?? schema.def.innerType) {
    const { type, defaultValue, entries } = schema.def;
    Object.assign(meta, { ...schema.meta(), ...meta });
    if (type === "optional") fallback = "none";
    if (type === "default") fallback = textOf(defaultValue);
    if (type === "enum")
      values = Object.values(entries)
        .map((value) => `\`${value}\``)
        .join(", ");
  }
  return { values: meta.values ?? values, fallback: meta.unset ?? fallback, what: meta.description ?? "", isSecret: meta.secret === true };
}

const textOf = (value) => {
  const text = Array.isArray(value) ? value.join(",") : String(value);
  return text === "" ? "none" : `\`${text}\``;
};

await writeOrCheck("docs/settings.md", await settingsPage(), "settings");
const CHART_SCHEMA = "deploy/helm/brand-records/values.schema.json";
const schema = JSON.parse(await readFile(CHART_SCHEMA, "utf8"));
Object.assign(schema.definitions, settingsDefinitions());
const text = await format(JSON.stringify(schema, null, 2), { ...(await resolveConfig(CHART_SCHEMA)), parser: "json" });
await writeOrCheck(CHART_SCHEMA, text, "settings");
