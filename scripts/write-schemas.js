// Writes the JSON Schemas of docs/schemas anew, from what the code checks by. Run by `npm run schemas`.
import { mkdir, writeFile } from "node:fs/promises";
import { eventJsonSchema } from "@brand-records/brand-events";

const folder = new URL("../docs/schemas/", import.meta.url);
await mkdir(folder, { recursive: true });
await writeFile(new URL("brand-event.schema.json", folder), JSON.stringify(eventJsonSchema(), null, 2));
