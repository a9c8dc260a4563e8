import { resolve } from "node:path";
import pc from "picocolors";
import type { LauncherConfig } from "./config.ts";
import { localFiles, type LocalFiles } from "./local-files.ts";
import type { RunBrand, RunFile } from "./run-file.ts";

/** The brand that the example commands use. */
export const exampleBrand = (brands: readonly RunBrand[]): RunBrand | undefined =>
  brands.find(({ tier }) => tier === "enterprise") ?? brands[0];

/**
 * Renders what a person sees when everything runs.
 *
 * @param pendingSubmission a submission of the example brand to approve; undefined if none is pending
 */
export function banner(run: RunFile, config: LauncherConfig, files: LocalFiles, pendingSubmission: string | undefined): string {
  const limits: Readonly<Record<string, number>> = {
    plus: config.RATE_LIMIT_PLUS,
    pro: config.RATE_LIMIT_PRO,
    enterprise: config.RATE_LIMIT_ENTERPRISE,
  };
  const brand = exampleBrand(run.brands);
  const call = (path: string): string => `curl -s '${run.base_url}${path}' \\\n    -H 'Authorization: Bearer ${brand?.keys.reporting}'`;
  const inCell = Object.keys(run.cells).length === 0 ? "" : ` --brand ${brand?.id}`;
  return [
    "",
    `  ${pc.bold(pc.green("Brand Records"))} is running at ${pc.bold(pc.cyan(run.base_url))}`,
    "",
    `  Console       ${run.console.url}`,
    `  Guides        ${run.base_url}/docs/api`,
    `  Reference     ${run.base_url}/docs`,
    `  Database      ${config.DATABASE_URL !== undefined ? "DATABASE_URL" : "embedded Postgres"}`,
    `  Rate limits   ${config.REDIS_URL !== undefined ? "REDIS_URL" : "in process"}`,
    `  Event log     ${config.KAFKA_BROKERS ? "KAFKA_BROKERS" : "none: records hands events to webhook directly"}`,
    `  Receivers     ${pc.dim("also on this machine, without TLS (RECEIVERS_ON_LOOPBACK): for trials only")}`,
    "",
    ...run.brands.flatMap(({ name, tier, keys, id }) => [
      `  ${pc.bold(name)}  ${pc.dim(`${tier}, ${limits[tier]} requests a minute, ${id}`)}`,
      `    reporting   ${pc.yellow(keys.reporting)}`,
      `    planner     ${pc.yellow(keys.planner)}`,
      "",
    ]),
    ...signInLines(run, brand),
    `  ${pc.bold("Connect an assistant")}  ${pc.dim(`Claude Code; others: ${run.base_url}/docs/assistants`)}`,
    "",
    `  claude mcp add --transport http brand-records ${run.base_url}/api/mcp \\\n    --header 'Authorization: Bearer ${brand?.keys.reporting}'`,
    "",
    `  ${pc.bold("Watch an event arrive")}  ${pc.dim("run the first in another terminal")}`,
    "",
    `  npx brandctl listen --brand ${brand?.id}`,
    ...(pendingSubmission === undefined ? [] : ["", `  npx brandctl records set-status submission ${pendingSubmission} approved${inCell}`]),
    "",
    `  ${pc.bold("Try")}`,
    "",
    `  ${call("/api/v1/campaigns?limit=2")}`,
    "",
    `  ${call("/api/v1/submissions?limit=200")}`,
    "",
    `  npx brandctl brands list`,
    "",
    ...storageLines(files).map((line) => pc.dim(`  ${line}`)),
    "",
  ].join("\n");
}

function signInLines({ console: { sign_in_url } }: RunFile, brand: RunBrand | undefined): string[] {
  if (sign_in_url === null || brand === undefined) return [];
  return [
    `  ${pc.bold("Open the console")}  ${pc.dim(`signs in ${brand.owner}; works once, within 24 hours`)}`,
    "",
    `  ${pc.cyan(sign_in_url)}`,
    "",
  ];
}

/** A LOCAL_DIR is shown in full, with the variable to export: brandctl and reset look in `.local` by default. */
function storageLines(files: LocalFiles): string[] {
  const end = "Ctrl-C stops; npm run reset deletes everything.";
  const directory = resolve(files.directory);
  if (directory === localFiles().directory) return [`Everything above is in .local/run.json, logs are in .local/logs. ${end}`];
  return [
    `Everything above is in ${resolve(files.run)}, logs are in ${resolve(files.logs)}. ${end}`,
    `In other terminals brandctl and npm run reset need it too: export LOCAL_DIR=${quoted(directory)}`,
  ];
}

/** Quotes a text as one shell word. */
const quoted = (text: string): string => (/^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`);
