// Fails if a package of package-lock.json has a licence that licences.json does not allow. `npm run licences` runs it.
import { readFileSync } from "node:fs";
import { licenceProblems } from "./licence-rules.js";
import { packagesIn } from "./shipped-packages.js";

const read = (url) => JSON.parse(readFileSync(new URL(url, import.meta.url), "utf8"));
const packages = packagesIn(read("../../package-lock.json"));
const problems = licenceProblems(packages, read("licences.json"));
for (const problem of problems) process.stderr.write(`${problem}\n`);
if (problems.length > 0) process.stderr.write("Choose another package, or say in scripts/supply-chain/licences.json why it is allowed.\n");
else process.stdout.write(`The licences of ${packages.length} packages are allowed.\n`);
process.exitCode = problems.length > 0 ? 1 : 0;
