// Writes the types of @brand-records/client from the OpenAPI description. `npm run client-types` runs it.
//
//     node scripts/write-client-types.js                writes them
//     node scripts/write-client-types.js --check [URL]  compares them with the description that the service at the URL serves
import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { format, resolveConfig } from "prettier";
import { parse } from "yaml";
import { openApiDocument } from "../gateway/dist/http/openapi/document.js";
import { clientTypes } from "./client-types.js";

const target = fileURLToPath(new URL("../clients/client/src/generated/api.ts", import.meta.url));
const [mode, url] = process.argv.slice(2);

const description =
  url === undefined ? openApiDocument("https://records.example") : await (await fetch(`${url}/openapi/service.yaml`)).text();
const source = await format(clientTypes(parse(description)), { ...(await resolveConfig(target)), filepath: target });
if (mode !== "--check") await writeFile(target, source);
else if (source !== (await readFile(target, "utf8"))) {
  console.error("clients/client/src/generated/api.ts differs from the description. Run: npm run client-types");
  process.exitCode = 1;
}
