// Writes docs/schemas from the schemas with which the code validates. `npm run schemas` runs it.
import { mkdir, writeFile } from "node:fs/promises";
import { eventJsonSchema } from "@brand-records/resources";

const folder = new URL("../docs/schemas/", import.meta.url);
await mkdir(folder, { recursive: true });
await writeFile(new URL("brand-event.schema.json", folder), JSON.stringify(eventJsonSchema(), null, 2));
