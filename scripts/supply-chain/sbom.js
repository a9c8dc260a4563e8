// Writes the software bill of materials of the image, as CycloneDX JSON: `npm run sbom -- FILE`.
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { imageSbom } from "./image-sbom.js";

const root = fileURLToPath(new URL("../..", import.meta.url));
const read = (path) => JSON.parse(readFileSync(join(root, path), "utf8"));
const [{ version }, lock, { exceptions }] = [read("package.json"), read("package-lock.json"), read("scripts/supply-chain/licences.json")];
const file = resolve(process.argv[2] ?? join(tmpdir(), `brand-records-${version}.cdx.json`));

const whole = execFileSync("npm", ["sbom", "--sbom-format", "cyclonedx"], { cwd: root, encoding: "utf8", maxBuffer: 64 * 1024 * 1024 });
const sbom = imageSbom(JSON.parse(whole), lock, exceptions);
mkdirSync(dirname(file), { recursive: true });
writeFileSync(file, `${JSON.stringify(sbom, null, 2)}\n`);
process.stdout.write(`${file}: CycloneDX ${sbom.specVersion}, ${sbom.components.length} components\n`);
