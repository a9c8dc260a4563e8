import { cpSync, readdirSync, rmSync } from "node:fs";
import { extname, join } from "node:path";

/*
 * Copies the rules and dashboards of deploy/observability into the chart: helm packages only what lies in a chart's folder, and symbolic
 * links do not survive every checkout.
 */

const OBSERVABILITY = join(import.meta.dirname, "../observability");
const FILES = join(import.meta.dirname, "brand-records/files");
const COPIED = { rules: ".yml", dashboards: ".json" };

for (const [folder, extension] of Object.entries(COPIED)) {
  const source = join(OBSERVABILITY, folder);
  rmSync(join(FILES, folder), { recursive: true, force: true });
  for (const name of readdirSync(source).filter((file) => extname(file) === extension)) {
    cpSync(join(source, name), join(FILES, folder, name));
  }
}
