// Writes the chart's README. `npm run chart:readme` runs it.
import { writeFile } from "node:fs/promises";
import { chartReadme } from "./chart-readme.js";

await writeFile(new URL("../deploy/helm/brand-records/README.md", import.meta.url), await chartReadme());
