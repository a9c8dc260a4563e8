// Writes the types of @brand-records/client. `npm run client-types` runs it.
import { writeFile } from "node:fs/promises";
import { parse } from "yaml";
import { openApiDocument } from "../gateway/dist/http/openapi/document.js";
import { clientTypes } from "./client-types.js";

const target = new URL("../clients/client/src/generated/api.ts", import.meta.url);
await writeFile(target, clientTypes(parse(openApiDocument("https://records.example"))));
