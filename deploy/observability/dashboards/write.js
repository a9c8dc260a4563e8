import { writeFileSync } from "node:fs";
import { DASHBOARDS } from "./dashboards.js";

/** Writes the dashboards beside this file, as Grafana imports them. */
for (const [name, dashboard] of Object.entries(DASHBOARDS)) {
  writeFileSync(new URL(`${name}.json`, import.meta.url), `${JSON.stringify(dashboard, null, 2)}\n`);
}
