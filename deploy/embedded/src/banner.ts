import pc from "picocolors";
import type { LauncherConfig } from "./config.ts";
import type { RunBrand, RunFile } from "./run-file.ts";

/** The one that examples are about. */
export const brandToShow = (brands: readonly RunBrand[]): RunBrand | undefined =>
  brands.find(({ tier }) => tier === "enterprise") ?? brands[0];

/**
 * What a person sees when everything runs.
 *
 * @param pendingSubmission one of the enterprise brand's, to be approved; absent if there is none left
 */
export function banner(run: RunFile, config: LauncherConfig, pendingSubmission: string | undefined): string {
  const limits: Readonly<Record<string, number>> = {
    plus: config.RATE_LIMIT_PLUS,
    pro: config.RATE_LIMIT_PRO,
    enterprise: config.RATE_LIMIT_ENTERPRISE,
  };
  const enterprise = brandToShow(run.brands);
  const call = (path: string): string =>
    `curl -s '${run.base_url}${path}' \\\n    -H 'Authorization: Bearer ${enterprise?.keys.reporting}'`;
  return [
    "",
    `  ${pc.bold(pc.green("Brand Records"))} is running at ${pc.bold(pc.cyan(run.base_url))}`,
    "",
    `  Reference     ${run.base_url}/docs`,
    `  Database      ${config.DATABASE_URL !== undefined ? "DATABASE_URL" : "embedded Postgres"}`,
    `  Rate limits   ${config.REDIS_URL !== undefined ? "REDIS_URL" : "in process"}`,
    `  Event log     ${config.KAFKA_BROKERS ? "KAFKA_BROKERS" : "none: events go from records to webhook directly"}`,
    `  Receivers     ${pc.dim("also on this machine, without TLS (RECEIVERS_ON_LOOPBACK): for trying out only")}`,
    "",
    ...run.brands.flatMap(({ name, tier, keys, id }) => [
      `  ${pc.bold(name)}  ${pc.dim(`${tier}, ${limits[tier]} requests a minute, ${id}`)}`,
      `    reporting   ${pc.yellow(keys.reporting)}`,
      `    planner     ${pc.yellow(keys.planner)}`,
      "",
    ]),
    `  ${pc.bold("Connect an assistant")}  ${pc.dim("Claude Code here; docs/assistants.md has the others")}`,
    "",
    `  claude mcp add --transport http brand-records ${run.base_url}/api/mcp \\\n    --header 'Authorization: Bearer ${enterprise?.keys.reporting}'`,
    "",
    `  ${pc.bold("Watch an event arrive")}  ${pc.dim("the first in another terminal")}`,
    "",
    `  npx brandctl listen --create --brand ${enterprise?.id}`,
    ...(pendingSubmission === undefined ? [] : ["", `  npx brandctl records set-status submission ${pendingSubmission} approved`]),
    "",
    `  ${pc.bold("Try")}`,
    "",
    `  ${call("/api/v1/campaigns?limit=2")}`,
    "",
    `  ${call("/api/v1/submissions?limit=200")}`,
    "",
    `  npx brandctl brands list`,
    "",
    pc.dim("  Everything above is in .local/run.json, logs are in .local/logs. Ctrl-C stops; npm run reset forgets everything."),
    "",
  ].join("\n");
}
