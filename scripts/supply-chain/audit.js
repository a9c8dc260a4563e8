// Fails if npm's audit service knows an advisory about an installed version. `npm run check` runs it. A service that cannot be reached is a
// warning: CI must not depend on it.
import { spawnSync } from "node:child_process";
import process from "node:process";

/** Why an advisory without a fix does no harm here, by its id, such as GHSA-aaaa-bbbb-cccc. */
const EXCEPTIONS = new Map();

const { stdout } = spawnSync("npm", ["audit", "--json", "--fetch-retries=0", "--fetch-timeout=20000"], {
  encoding: "utf8",
  maxBuffer: 64 * 1024 * 1024,
});
const { auditReportVersion, vulnerabilities, message, error } = JSON.parse(stdout || "{}");

if (auditReportVersion !== undefined) {
  // A text names another vulnerable package, which has its own entry.
  const advisories = Object.values(vulnerabilities).flatMap(({ via }) => via.filter((cause) => typeof cause === "object"));
  const byId = new Map(advisories.map((advisory) => [advisory.url.slice(advisory.url.lastIndexOf("/") + 1), advisory]));
  for (const [id, { name, range, severity, title, url }] of byId) {
    if (!EXCEPTIONS.has(id)) fail(`${name} ${range}: ${severity}: ${title} (${url}). Update, or add it to EXCEPTIONS`);
  }
  for (const id of EXCEPTIONS.keys()) if (!byId.has(id)) fail(`the exception for ${id} is not needed: nothing has this advisory`);
} else if (message !== undefined && error?.code === undefined) {
  // Problems of the tree, such as a missing lock, have a code.
  process.stderr.write(`warning: not audited, as the audit service cannot be reached: ${message}\n`);
} else {
  fail(`npm audit failed: ${stdout || "no output"}`);
}

function fail(problem) {
  process.stderr.write(`${problem}\n`);
  process.exitCode = 1;
}
