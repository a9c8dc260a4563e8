import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { copyFile, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { CertificateAuthority, startConnectProxy, type ConnectProxy, type IssuedCertificate } from "@brand-records/testkit";
import { installedNode, installedRuntime, npmModules, PINNED } from "./installed-runtime.ts";
import {
  bundle,
  INSTALL_MS_MAX,
  installPackedClient,
  linkPackages,
  SMOKE_RESULTS,
  startSmokeService,
  type PackedClient,
  type SmokeService,
} from "./packed-client.ts";
import { runTool } from "./run-tool.ts";

/** One promise: what clients/client/README.md claims of runtimes, proxies, authorities and compilers is so. */

/** By the names that the README has. */
const NODES: Readonly<Record<string, string>> = { "20.0": "20.0.0", 20: "20.20.2", 22: "22.23.5", 24: process.versions.node };
const COMPILERS = ["5.0.4", "5.6.3", "5.9.3", "6.0.3", "7.0.2"];

let client: PackedClient;
let folder: string;
let service: SmokeService;
beforeAll(async () => {
  [client, service] = await Promise.all([installPackedClient(), startSmokeService()]);
  ({ folder } = client);
}, INSTALL_MS_MAX);
beforeEach(() => service.failNext());
afterAll(async () => {
  await service.stop();
  await client.remove();
});

/** Runs a program of the folder in a runtime, such as Node.js 20.0. Returns what it prints. */
async function runIn(runtime: string, program: string, env: Readonly<Record<string, string>>): Promise<string> {
  const [name, version = ""] = runtime.split(" ");
  if (name === "workerd") return runInWorkerd(program, env);
  const [command, ...args] = await commandOf(name ?? "", version);
  return (await runTool({ command, install: "its npm package" }, [...args, program], { cwd: folder, env })).trim();
}

async function commandOf(name: string, version: string): Promise<[command: string, ...args: string[]]> {
  if (name === "Node.js") return [version === "24" ? process.execPath : await installedNode(NODES[version] ?? "none")];
  if (name === "Bun") {
    expect(PINNED["@oven/bun-linux-x64"]).toMatch(`${version}.`);
    return [await installedRuntime("@oven/bun-linux-x64", "bin/bun")];
  }
  expect([name, PINNED["@deno/linux-x64-glibc"]]).toEqual(["Deno", expect.stringMatching(`${version}.`)]);
  const allowed = ["--no-lock", "--node-modules-dir=manual", "--allow-env", "--allow-read", "--allow-net=127.0.0.1"];
  return [await installedRuntime("@deno/linux-x64-glibc", "deno"), "run", ...allowed];
}

/** @param env with `NETWORK`, more options of its network */
async function runInWorkerd(program: string, { NETWORK = "", ...env }: Readonly<Record<string, string>>): Promise<string> {
  await bundle(folder, join(folder, program), "worker.mjs");
  const config = await readFile(join(folder, "smoke-worker.capnp"), "utf8");
  await writeFile(join(folder, "worker.capnp"), config.replace('"local"]', `"local"]${NETWORK}`));
  const workerd = await installedRuntime("@cloudflare/workerd-linux-64", "bin/workerd");
  const running = spawn(workerd, ["serve", "--control-fd=3", "worker.capnp"], {
    cwd: folder,
    env,
    stdio: ["ignore", "inherit", "inherit", "pipe"],
  });
  try {
    const [line] = (await once(running.stdio[3] as NodeJS.ReadableStream, "data")) as [Buffer];
    const { port } = JSON.parse(line.toString().split("\n")[0] ?? "") as { port: number };
    return await (await fetch(`http://127.0.0.1:${port}/`)).text();
  } finally {
    running.kill("SIGKILL");
  }
}

/** Returns the README's rows whose first column has these runtimes, each with its columns after it. */
const rowsOf = (text: string, columns: number): [runtime: string, ...cells: string[]][] =>
  [...text.matchAll(/^\| ((?:Node\.js|Bun|Deno|workerd).*) \|$/gm)]
    .map(([, row = ""]) => row.split("|").map((cell) => cell.trim()))
    .filter((cells) => cells.length === columns)
    .map(([names = "", ...cells]) => [names, ...cells]);

/** `Node.js 20.0, 20` are two, so are `Bun 1.4, Deno 2.9`. What is in brackets is for readers. */
const runtimesOf = (names: string): string[] => {
  let name = "";
  return names
    .replaceAll(/ \([^)]*\)|, bundled/g, "")
    .split(", ")
    .map((part) => {
      const [first = "", version] = part.split(" ");
      if (/^[A-Z]|workerd/.test(first)) name = first;
      return `${name} ${/^\d/.test(first) ? first : (version ?? "")}`.trim();
    });
};

const README = readFileSync("clients/client/README.md", "utf8");

describe("runs the packed client", () => {
  const [support = ""] = README.split("## Reading records");
  const rows = rowsOf(support, 3);
  const claimed = rows.flatMap(([names, byImport = "", byRequire = ""]) =>
    runtimesOf(names).flatMap((runtime) => [
      ...(byImport === "yes" ? [[runtime, "import"] as const] : []),
      ...(byRequire === "yes" ? [[runtime, "require"] as const] : []),
    ]),
  );

  it("in at least these cells", () => {
    expect(claimed.map(([runtime, way]) => `${runtime} ${way}`)).toEqual(
      expect.arrayContaining(["Node.js 20.0 require", "Node.js 24 import", "Bun 1.4 require", "Deno 2.9 require", "workerd import"]),
    );
    expect(claimed).toHaveLength(13);
  });

  it.each(claimed)(
    "in %s by %s",
    async (runtime, way) => {
      const program = runtime === "workerd" ? "smoke-worker.mjs" : way === "import" ? "smoke-process.mjs" : "smoke.cjs";
      expect(JSON.parse(await runIn(runtime, program, service.env))).toEqual(SMOKE_RESULTS);
    },
    INSTALL_MS_MAX,
  );
});

describe("a service with an authority of its own, behind a proxy", () => {
  let server: ReturnType<typeof createServer>;
  let proxy: ConnectProxy;
  let url: string;
  beforeAll(async () => {
    const issued: IssuedCertificate = new CertificateAuthority(folder).issue("service", { names: ["IP:127.0.0.1"] });
    await copyFile(issued.ca, join(folder, "ca.pem"));
    const tls = { cert: await readFile(issued.cert), key: await readFile(issued.key) };
    server = createServer(tls, (_, response) => {
      response.writeHead(200, { "X-Brand-Id": "brd_1" }).end('{"resource":"payouts","count":0,"data":[]}');
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    url = `https://127.0.0.1:${port}`;
    proxy = await startConnectProxy(() => ({ port }));
    await linkPackages(folder, await npmModules(["undici@6.24.0"]), ["undici"]);
    const lines = /```ts\n([^`]*EnvHttpProxyAgent[^`]*)```/.exec(README)?.[1] ?? "";
    await writeFile(join(folder, "proxied.mjs"), lines);
  }, INSTALL_MS_MAX);
  beforeEach(() => void proxy.targets.splice(0));
  afterAll(async () => {
    await proxy.stop();
    server.closeAllConnections();
    server.close();
  });

  const rows = rowsOf(README.split("## Reading records")[1] ?? "", 3).flatMap(([names, through = "", trusted = ""]) =>
    runtimesOf(names).map((runtime) => [runtime, through, /`(.*)`/.exec(trusted)?.[1] ?? ""] as const),
  );
  const isProcess = ([runtime]: readonly [string, ...unknown[]]): boolean => runtime !== "workerd";
  const envOf = (text: string): Record<string, string> =>
    Object.fromEntries([...text.matchAll(/(\w+)=([\w.]+)/g)].map(([, name, value]) => [name, value]));

  it("is documented for every runtime", () => {
    expect(rows.map(([runtime]) => runtime).toSorted()).toEqual([
      "Bun 1.4",
      "Deno 2.9",
      "Node.js 20",
      "Node.js 22",
      "Node.js 24",
      "workerd",
    ]);
  });

  it.each(rows.filter(isProcess))(
    "is read in %s with its lines, and not without",
    async (runtime, through, trusted) => {
      expect(await runIn(runtime, "trust.mjs", { URL: url })).toMatch(/certificate is not trusted/);
      expect(await runIn(runtime, "trust.mjs", { URL: url, ...envOf(trusted) })).toBe("brd_1");
      expect(proxy.targets).toEqual([]);
      const byLines = through === "the lines below" && { NODE_OPTIONS: "--import=./proxied.mjs" };
      const env = { URL: url, HTTPS_PROXY: proxy.url, ...envOf(trusted), ...envOf(through), ...byLines };
      expect(await runIn(runtime, "trust.mjs", env)).toBe("brd_1");
      expect(proxy.targets).toHaveLength(1);
    },
    INSTALL_MS_MAX,
  );

  it.each(rows.filter((row) => !isProcess(row)))(
    "is trusted in %s with its line",
    async (runtime, _, trusted) => {
      expect(await runIn(runtime, "trust-worker.mjs", { URL: url, NETWORK: `, ${trusted}` })).toBe("brd_1");
    },
    INSTALL_MS_MAX,
  );
});

describe("is typed for TypeScript", () => {
  const MODULES: Readonly<Record<string, object>> = {
    "node10, as CommonJS": { module: "commonjs", moduleResolution: "node10" },
    "node16, as CommonJS and as ES modules": { module: "node16", moduleResolution: "node16" },
    nodenext: { module: "nodenext", moduleResolution: "nodenext" },
    bundler: { module: "esnext", moduleResolution: "bundler" },
  };
  const cells = COMPILERS.flatMap((version) => Object.keys(MODULES).map((modules) => [version, modules] as const));

  beforeAll(async () => {
    for (const name of ["types.cts", "types.ts"]) await copyFile(join(folder, "types.mts"), join(folder, name));
    await linkPackages(folder, await npmModules(["@types/node@20.19.0"]), ["@types/node", "undici-types"]);
  }, INSTALL_MS_MAX);

  it("from the oldest to the newest that the README names", () => {
    const [, oldest, newest] = /TypeScript (\d\.\d) to (\d\.\d)/.exec(README) ?? [];
    expect([COMPILERS[0], COMPILERS.at(-1)]).toEqual([expect.stringMatching(`^${oldest}`), expect.stringMatching(`^${newest}`)]);
  });

  // The newest has node10 no longer.
  it.each(cells.filter(([version, modules]) => !(version.startsWith("7") && modules.startsWith("node10"))))(
    "%s, with modules by %s",
    async (version, modules) => {
      const tsc = join(await npmModules([`typescript@${version}`]), "typescript/bin/tsc");
      const files = modules.startsWith("node16") ? ["types.mts", "types.cts"] : [modules === "nodenext" ? "types.mts" : "types.ts"];
      const common = {
        strict: true,
        noEmit: true,
        target: "es2022",
        esModuleInterop: true,
        ...(version.startsWith("6") && { ignoreDeprecations: "6.0" }),
      };
      const environments = [
        { lib: ["es2022", "dom", "dom.iterable"], types: [], exactOptionalPropertyTypes: true, skipLibCheck: false },
        // The declarations of Node.js are not ours to check.
        { lib: ["es2022"], types: ["node"], skipLibCheck: true },
      ];
      for (const environment of environments) {
        await writeFile(
          join(folder, "tsconfig.json"),
          JSON.stringify({ compilerOptions: { ...common, ...MODULES[modules], ...environment }, files }),
        );
        await runTool({ command: process.execPath, install: "Node.js" }, [tsc, "-p", folder], { cwd: folder });
      }
    },
    INSTALL_MS_MAX,
  );
});
