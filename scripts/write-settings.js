// Writes docs/settings.md, and the names of settings that the chart takes. `npm run settings` runs it.
import { readFile, writeFile } from "node:fs/promises";
import { settingsDefinitions, settingsPage } from "./settings-page.js";

await writeFile(new URL("../docs/settings.md", import.meta.url), await settingsPage());

const chartSchema = new URL("../deploy/helm/brand-records/values.schema.json", import.meta.url);
const schema = JSON.parse(await readFile(chartSchema, "utf8"));
Object.assign(schema.definitions, settingsDefinitions());
await writeFile(chartSchema, `${JSON.stringify(schema, null, 2)}\n`);
