import { execFile } from "node:child_process";
import { createServer, request, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { BODY_BYTES } from "./settings.ts";
import { Outpost } from "./peer.ts";

/** One promise: `--peer` speaks the calls of an Outpost, as docs/apis/openapi.yaml of hookdeck/outpost describes them. */

interface Call {
  readonly method: string;
  readonly path: string;
  readonly authorization: string | undefined;
  readonly body: Record<string, unknown>;
}

interface Reply {
  readonly status: number;
  readonly body: object;
}

const API_KEY = "key-of-the-peer";
const MAIN = join(__dirname, "../../dist/bench/webhooks/main.js");
const TENANT = /^\/api\/v1\/tenants\/(\w+)/;

let server: Server;
let calls: Call[];
/** URL of each tenant's destination. */
let destinations: Map<string, string>;
let reply: (call: Call) => Reply;

beforeEach(async () => {
  calls = [];
  destinations = new Map();
  reply = replyAsOutpost;
  server = createServer((incoming, response) => {
    void readCall(incoming).then((call) => {
      calls.push(call);
      const { status, body } = reply(call);
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

async function readCall(incoming: IncomingMessage): Promise<Call> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  const { method = "", url: path = "", headers } = incoming;
  const body = JSON.parse(Buffer.concat(chunks).toString()) as Record<string, unknown>;
  return { method, path, authorization: headers.authorization, body };
}

/** Sends what is published to the tenant's destination at once. */
function replyAsOutpost({ method, path, body }: Call): Reply {
  const tenant = TENANT.exec(path)?.[1];
  if (path.endsWith("/destinations")) {
    destinations.set(tenant ?? "", (body["config"] as { url: string }).url);
    return { status: 201, body: { id: `des_${tenant}` } };
  }
  if (tenant !== undefined) return { status: method === "PUT" ? 201 : 200, body: { id: tenant } };
  const url = destinations.get(String(body["tenant_id"])) ?? "";
  request(url, { method: "POST" })
    .on("error", () => {})
    .end(JSON.stringify(body["data"]));
  return { status: 202, body: { id: body["id"], duplicate: false, destination_ids: ["des_1"] } };
}

const urlOfPeer = (): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v1/`;
const newOutpost = (): Outpost => new Outpost({ url: urlOfPeer(), apiKey: API_KEY });

it("creates a tenant and a webhook destination for each port, and authenticates with the key as a bearer token", async () => {
  const outpost = newOutpost();
  await outpost.register([4_001]);
  await outpost.stop();
  const tenant = /^\/api\/v1\/tenants\/(bench_[0-9a-f]{8}_0)$/.exec(calls[0]?.path ?? "")?.[1];
  expect(calls.map(({ method, path }) => `${method} ${path}`)).toEqual([
    `PUT /api/v1/tenants/${tenant}`,
    `POST /api/v1/tenants/${tenant}/destinations`,
    `DELETE /api/v1/tenants/${tenant}`,
  ]);
  expect(new Set(calls.map(({ authorization }) => authorization))).toEqual(new Set([`Bearer ${API_KEY}`]));
  expect(calls[1]?.body).toEqual({ type: "webhook", topics: ["submission.approved"], config: { url: "http://127.0.0.1:4001/" } });
});

it("publishes events of the measured size whose first 400 bytes have their time, however the keys are sorted", async () => {
  const outpost = newOutpost();
  await outpost.register([4_001]);
  await outpost.publish(0, 7);
  const { body } = calls.at(-1) as Call;
  expect(body).toMatchObject({ tenant_id: expect.stringMatching(/^bench_/), topic: "submission.approved", eligible_for_retry: true });
  const data = body["data"] as Record<string, unknown>;
  const sorted = JSON.stringify(data, Object.keys(data).toSorted());
  expect(sorted.indexOf('"created_at"')).toBeLessThan(300);
  expect(Math.abs(JSON.stringify(data).length - BODY_BYTES)).toBeLessThan(50);
  await outpost.stop();
});

it.each([
  [{ status: 401, body: { message: "unauthorized" } }, 'PUT /tenants/bench_x_0: the peer returned 401: {"message":"unauthorized"}'],
  [{ status: 202, body: { id: "evt", duplicate: false, destination_ids: [] } }, "its TOPICS must contain it"],
])("ends the run if the peer returns %j", async (response, message) => {
  reply = (call) => (response.status === 401 || call.path.endsWith("/publish") ? response : replyAsOutpost(call));
  const outpost = newOutpost();
  const failure = outpost.register([4_001]).then(() => outpost.publish(0, 1));
  const error = await failure.catch((reason: unknown) => reason as Error);
  expect(String(error).replace(/bench_[0-9a-f]{8}/, "bench_x")).toContain(message);
});

it("measures a peer that delivers what is published, with the key from the environment", async () => {
  const env = { ...process.env, BENCH_SIZE: "tiny", PEER_API_KEY: API_KEY };
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [MAIN, "--peer", urlOfPeer()], { env });
  expect(stderr).not.toContain(API_KEY);
  expect(stdout).toMatch(/deliveries per second +\d+/);
  expect(calls.filter(({ method }) => method === "DELETE")).toHaveLength(destinations.size);
});

it("refuses a peer without a key", async () => {
  const env = { ...process.env, BENCH_SIZE: "tiny", PEER_API_KEY: "" };
  const run = promisify(execFile)(process.execPath, [MAIN, "--peer", urlOfPeer()], { env });
  await expect(run).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining("PEER_API_KEY") });
});
