// Writes docs/settings.md. `npm run settings` runs it.
import { writeFile } from "node:fs/promises";
import { settingsPage } from "./settings-page.js";

await writeFile(new URL("../docs/settings.md", import.meta.url), await settingsPage());
