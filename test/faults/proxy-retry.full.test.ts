import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "@brand-records/postgres/embedded";
import { eventually, killWithParent } from "@brand-records/testkit";
import { startClients } from "../clients-in-turn.ts";
import { ensureBackingServices } from "../setup/ensure-backing-services.ts";
import { startStack } from "../stack.ts";

/** One promise: behind a proxy with the lines of docs/kubernetes.md, a gateway that is killed costs no GET, and no POST is sent twice. */

const [, LINES = ""] = /^```nginx\n(.*?)^```$/ms.exec(readFileSync("docs/kubernetes.md", "utf8")) ?? [];
const KILLS = 3;
jest.setTimeout(300_000);

let folder: string;
beforeAll(async () => {
  await ensureBackingServices("nginx");
  folder = await mkdtemp(join(tmpdir(), "brand-records-nginx-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

interface Proxy {
  readonly url: string;
  stop(): Promise<unknown>;
}

/** Starts nginx before servers that take turns. @param lines of its location */
async function startNginx(urls: readonly string[], lines: string): Promise<Proxy> {
  const port = await freePort();
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((name) => `${name}_temp_path ${folder};`).join(" ");
  const servers = urls.map((url) => `server ${new URL(url).host} max_fails=0;`).join(" ");
  const file = join(folder, `${port}.conf`);
  await writeFile(
    file,
    `daemon off; master_process off; pid ${folder}/${port}.pid; error_log stderr crit; events {}
http {
  access_log off; ${temporary}
  upstream gateway { ${servers} keepalive 8; }
  server {
    listen 127.0.0.1:${port};
    location / { proxy_pass http://gateway; proxy_http_version 1.1; proxy_set_header Connection ""; ${lines} }
  }
}`,
  );
  const child = spawn("nginx", ["-e", "stderr", "-p", folder, "-c", file], { stdio: ["ignore", "ignore", "inherit"] });
  killWithParent(child);
  const exited = once(child, "close");
  const url = `http://127.0.0.1:${port}`;
  await eventually(() => fetch(url));
  const stop = (): Promise<unknown> => {
    child.ref();
    child.kill("SIGTERM");
    return exited;
  };
  return { url, stop };
}

it("sends a GET to another gateway when one is killed: 200 for every request", async () => {
  const stack = await startStack({ gateways: 2, env: { RATE_LIMIT_PLUS: "100000" } });
  const proxy = await startNginx(
    stack.gateways.map(({ url }) => url),
    LINES,
  );
  const { key } = await stack.createBrand();
  const traffic = startClients(8, async () => {
    const response = await fetch(`${proxy.url}/api/v1/links?limit=5`, { headers: { authorization: `Bearer ${key}` } });
    await response.arrayBuffer();
    return response.status;
  });
  const moreServed = async (): Promise<void> => {
    const before = traffic.results.length;
    await eventually(() => expect(traffic.results.length).toBeGreaterThan(before + 100));
  };
  try {
    for (let kills = 0; kills < KILLS; kills += 1) {
      await moreServed();
      await stack.gateways[0].process.kill("SIGKILL");
      await moreServed();
      await stack.restart("gateway");
    }
    await moreServed();
  } finally {
    const statuses = new Set(await traffic.stop());
    await proxy.stop();
    await stack.stop();
    expect([...statuses]).toEqual([200]);
  }
});

it.each([
  ["GET", 200, 2, "the lines", LINES],
  ["POST", 502, 1, "the lines", LINES],
  ["GET", 502, 1, "no retries", "proxy_next_upstream off;"],
])("answers a %s whose first gateway resets the connection with %d, after %d tries, with %s", async (method, status, tries, _, lines) => {
  let requests = 0;
  const first = (request: IncomingMessage): boolean => request.url === "/api" && (requests += 1) === 1;
  const upstreams = [0, 1].map(() =>
    createServer((request, response) => void (first(request) ? request.socket.resetAndDestroy() : response.end())),
  );
  for (const upstream of upstreams) await once(upstream.listen(0, "127.0.0.1"), "listening");
  const proxy = await startNginx(
    upstreams.map((upstream) => `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`),
    lines,
  );
  const response = await fetch(`${proxy.url}/api`, { method });
  await proxy.stop();
  for (const upstream of upstreams) upstream.close().closeAllConnections();
  expect([response.status, requests]).toEqual([status, tries]);
});
