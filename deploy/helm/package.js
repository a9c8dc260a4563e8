import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";

/*
 * Packages the chart of a release, for an OCI registry beside the image's:
 *
 *   node deploy/helm/package.js --release 1.1.0 --image REGISTRY/brand-records [--digest sha256:…] --destination FOLDER [--push oci://REGISTRY/charts]
 *
 * The archive has the release's version, its rules, dashboards and README, and by default runs the named image. Needs helm.
 */

const ROOT = join(import.meta.dirname, "../..");
const { values } = parseArgs({
  options: {
    release: { type: "string" },
    image: { type: "string" },
    digest: { type: "string" },
    destination: { type: "string" },
    push: { type: "string" },
    "plain-http": { type: "boolean", default: false },
  },
});
const { release, image, digest = "", destination, push } = values;
if (release === undefined || image === undefined || destination === undefined) fail("--release, --image and --destination are required");

const { version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
if (release !== version) fail(`--release is ${release}, but package.json has ${version}`);
if (!/^(sha256:[0-9a-f]{64})?$/.test(digest)) fail("--digest must be sha256: and 64 digits");

const folder = mkdtempSync(join(tmpdir(), "brand-records-package-"));
try {
  const chart = join(folder, "brand-records");
  cpSync(join(ROOT, "deploy/helm/brand-records"), chart, { recursive: true });
  execFileSync(process.execPath, [join(import.meta.dirname, "copy-files.js"), chart]);
  replaceOnce(join(chart, "Chart.yaml"), /^version: .*\nappVersion: .*$/m, `version: ${release}\nappVersion: ${release}`);
  const reference = digest === "" ? `${image}:${release}` : `${image}@${digest}`;
  replaceOnce(join(chart, "Chart.yaml"), /^( +image: ).*$/m, `$1${reference}`);
  replaceOnce(join(chart, "Chart.yaml"), /^ +# deploy\/helm\/package\.js .*\n/m, "");
  replaceOnce(join(chart, "values.yaml"), /^( {2}repository: ).*$/m, `$1${image}`);
  replaceOnce(join(chart, "values.yaml"), /^( {2}digest: ).*$/m, `$1${JSON.stringify(digest)}`);
  helm("package", chart, "--destination", destination);
  if (push !== undefined)
    helm("push", join(destination, `brand-records-${release}.tgz`), push, ...(values["plain-http"] ? ["--plain-http"] : []));
} finally {
  rmSync(folder, { recursive: true });
}

function helm(...args) {
  try {
    execFileSync("helm", args, { stdio: "inherit" });
  } catch (error) {
    // What helm has to report, it has written.
    throw error.code === "ENOENT" ? new Error("helm is not on the PATH: https://helm.sh/docs/intro/install", { cause: error }) : error;
  }
}

function replaceOnce(path, pattern, replacement) {
  const text = readFileSync(path, "utf8");
  if (!pattern.test(text)) throw new Error(`${path} has nothing like ${pattern}`);
  writeFileSync(path, text.replace(pattern, replacement));
}

function fail(message) {
  console.error(message);
  process.exit(64);
}
