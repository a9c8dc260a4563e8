// Fails if npm's audit service knows an advisory about an installed version. `npm run check` runs it. A service that cannot be reached is a
// warning: CI must not depend on it.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { auditProblems, expiredExceptions, isUnreachable } from "./audit-rules.js";

const exceptions = JSON.parse(readFileSync(new URL("audit-exceptions.json", import.meta.url), "utf8"));
const today = new Date().toISOString().slice(0, 10);

const { stdout } = spawnSync("npm", ["audit", "--json", "--fetch-retries=0", "--fetch-timeout=20000"], {
  encoding: "utf8",
  maxBuffer: 64 * 1024 * 1024,
});
const report = parse(stdout);
let problems = expiredExceptions(exceptions, today);
if (report.auditReportVersion !== undefined) problems = [...problems, ...auditProblems(report, exceptions)];
else if (isUnreachable(report)) process.stderr.write(`warning: not audited, as the audit service cannot be reached: ${report.message}\n`);
else problems = [...problems, `npm audit failed: ${stdout || "no output"}`];

for (const problem of problems) process.stderr.write(`${problem}\n`);
if (problems.length > 0)
  process.stderr.write("Update, or say in scripts/supply-chain/audit-exceptions.json why it does no harm, and until when.\n");
process.exitCode = problems.length > 0 ? 1 : 0;

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}
