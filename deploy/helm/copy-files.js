import { cpSync, readdirSync, rmSync } from "node:fs";
import { extname, join } from "node:path";

/*
 * Copies the rules and dashboards of deploy/observability into the chart, or into the copy of it that the argument names: helm packages
 * only what lies in a chart's folder, and symbolic links do not survive every checkout. git ignores the copies.
 */

const OBSERVABILITY = join(import.meta.dirname, "../observability");
const [, , chart = join(import.meta.dirname, "brand-records")] = process.argv;
const COPIED = { rules: ".yml", dashboards: ".json" };

for (const [folder, extension] of Object.entries(COPIED)) {
  const source = join(OBSERVABILITY, folder);
  const target = join(chart, "files", folder);
  rmSync(target, { recursive: true, force: true });
  for (const name of readdirSync(source).filter((file) => extname(file) === extension)) {
    cpSync(join(source, name), join(target, name));
  }
}
