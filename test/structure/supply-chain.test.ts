import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { promisify } from "node:util";

/** One promise: npm run check refuses licences that are not allowed, and the bill of materials is that of the image. advisories.full.test.ts has the rest. */

const run = promisify(execFile);

interface Package {
  readonly name: string;
  readonly version: string;
  readonly licence: string | undefined;
  readonly isShipped: boolean;
}

interface Sbom {
  readonly components: readonly { readonly "bom-ref": string; readonly name: string; readonly version: string }[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

/** JavaScript, which the compiler knows no types of. */
const { licenceProblems } = jest.requireActual<{ licenceProblems(packages: readonly Package[], rules: object): string[] }>(
  "../../scripts/supply-chain/licence-rules.js",
);
const { imageSbom } = jest.requireActual<{ imageSbom(sbom: object, lock: object, exceptions: object): Sbom }>(
  "../../scripts/supply-chain/image-sbom.js",
);
describe("licences", () => {
  const rules = { allowed: ["MIT", "Apache-2.0"], allowedInDevelopment: { "MPL-2.0": "its own files" }, exceptions: {} };
  const packageOf = (licence: string | undefined, isShipped = true) => ({ name: "x", version: "1.0.0", licence, isShipped });
  const problems = (packages: readonly Package[], more: object = {}): string[] => licenceProblems(packages, { ...rules, ...more });

  it("fulfils an expression with what is allowed", () => {
    const allowed = ["MIT", "(MIT OR GPL-3.0-only)", "GPL-3.0-only OR (MIT AND Apache-2.0)", "MIT AND Apache-2.0"];
    expect(problems(allowed.map((licence) => packageOf(licence)))).toEqual([]);
  });

  it("refuses others, none, and what is no expression", () => {
    const refused = [
      "GPL-3.0-only",
      "MIT AND GPL-3.0-only",
      "MIT WITH x",
      "(MIT",
      "MIT)",
      "MIT Apache-2.0",
      "",
      "MIT OR",
      "SEE LICENSE IN X",
    ];
    expect(problems(refused.map((licence) => packageOf(licence)))).toEqual(refused.map((licence) => `x@1.0.0: ${licence} is not allowed`));
    expect(problems([packageOf(undefined)])).toEqual(["x@1.0.0: declares no licence"]);
  });

  it("allows more to what is not shipped, and exceptions with a reason that are needed", () => {
    expect(problems([packageOf("MPL-2.0", false)])).toEqual([]);
    expect(problems([packageOf("MPL-2.0")])).toEqual(["x@1.0.0: MPL-2.0 is not allowed"]);
    const exceptions = { x: { licence: "MIT", reason: "its LICENSE file" } };
    expect(problems([packageOf("BSD")], { exceptions })).toEqual([]);
    expect(problems([packageOf("MIT")], { exceptions })).toEqual(["the exception for x is not needed: it declares its licence"]);
    expect(problems([], { exceptions })).toEqual(["the exception for x is not needed: no such package"]);
    const unexplained = { x: { licence: "MIT" } };
    expect(problems([packageOf("BSD")], { exceptions: unexplained })).toEqual(["the exception for x needs a licence and a reason"]);
  });
});

describe("the bill of materials", () => {
  const lock = {
    packages: {
      "": { name: "brand-records", version: "1.0.0" },
      gateway: { name: "@brand-records/gateway", version: "1.0.0", dependencies: { a: "^1.0.0" }, devDependencies: { tool: "^1.0.0" } },
      "node_modules/a": { version: "1.0.0", license: "MIT", dependencies: { b: "^1.0.0" }, optionalDependencies: { o: "^1.0.0" } },
      "node_modules/a/node_modules/b": { version: "1.0.0", license: "MIT" },
      "node_modules/b": { version: "2.0.0", license: "MIT" },
      "node_modules/o": { version: "1.0.0", license: "MIT" },
      "node_modules/tool": { version: "1.0.0", license: "MIT" },
    },
  };
  const component = (reference: string) => {
    const [, name = "", version = ""] = /^(.+)@(.+)$/.exec(reference) ?? [];
    const purl = `pkg:npm/${name.replace("@", "%40")}@${version}`;
    return { "bom-ref": reference, name: "folder", version, purl, licenses: [{ license: { id: "MIT" } }], hashes: [{}] };
  };
  const sbom = {
    bomFormat: "CycloneDX",
    specVersion: "1.5",
    serialNumber: "urn:uuid:1",
    metadata: { component: { "bom-ref": "brand-records@1.0.0", name: "folder", version: "1.0.0" } },
    components: ["@brand-records/gateway@1.0.0", "a@1.0.0", "b@1.0.0", "b@2.0.0", "o@1.0.0", "tool@1.0.0"].map(component),
    dependencies: [{ ref: "a@1.0.0", dependsOn: ["b@1.0.0", "o@1.0.0"] }],
  };
  it("has what the programs depend on, and nothing else", () => {
    const reduced = imageSbom(sbom, lock, {});
    expect(reduced.components.map(({ name, version }) => `${name}@${version}`)).toEqual([
      "@brand-records/gateway@1.0.0",
      "a@1.0.0",
      "b@1.0.0",
    ]);
    expect(reduced.dependencies).toEqual([{ ref: "a@1.0.0", dependsOn: ["b@1.0.0"] }]);
  });
});

describe("a release's image", () => {
  const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { version: string };
  const digest = `node:24-bookworm-slim@sha256:${"a".repeat(64)}`;

  it.each([
    ["", "node:24-bookworm-slim", 0],
    [version, digest, 0],
    [version, "node:24-bookworm-slim", 1],
    [version, `${digest}0`, 1],
    ["0.0.1", digest, 1],
  ])("is built for release %j from %s: exit code %i", async (release, base, code) => {
    const exit = await run("deploy/image/require-release.sh", [release, base]).then(
      () => 0,
      (error: unknown) => (error as { code: number }).code,
    );
    expect(exit).toBe(code);
  });

  it("is built from that base in every stage, and checked before anything else", () => {
    const dockerfile = readFileSync("Dockerfile", "utf8");
    expect([...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, base]) => base)).toEqual(Array.from({ length: 4 }, () => "${BASE_IMAGE}"));
    const [firstScript] = [...dockerfile.matchAll(/^RUN .*/gm)];
    expect(firstScript?.[0]).toBe('RUN deploy/image/require-release.sh "$RELEASE" "$BASE_IMAGE"');
  });
});
