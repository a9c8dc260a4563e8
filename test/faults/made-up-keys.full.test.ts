import { Agent, request } from "node:http";
import { generateKey } from "@brand-records/api-key";
import { eventually } from "@brand-records/testkit";
import { startStack, type Stack, type TestBrand } from "../stack.ts";

/** One promise: however many keys are made up, those in use work. Without Redis, so that every request has its key verified. */

const FLOOD_REQUESTS = 4_000;
/** More than are verified at once: the rest are refused. */
const FLOOD_CONNECTIONS = 600;

let stack: Stack;
let brand: TestBrand;
beforeAll(async () => {
  stack = await startStack({ env: { RATE_LIMIT_PLUS: "100000", LOG_LEVEL: "warn", REQUEST_DEADLINE_MS: "20000" } });
  brand = await stack.createBrand();
}, 120_000);
afterAll(() => stack.stop());

function ask(agent: Agent, key: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${key}` };
    const sent = request(`${stack.url}/api/v1/links`, { agent, headers }, (response) => {
      response.resume().once("end", () => resolve(response.statusCode ?? 0));
    });
    sent.once("error", reject).end();
  });
}

it("a key in use is served all through a flood of made-up keys with valid checksums", async () => {
  expect((await stack.get("/api/v1/links", brand.key)).status).toBe(200);
  const agent = new Agent({ keepAlive: true, maxSockets: FLOOD_CONNECTIONS });
  const flooded = new Map<number, number>();
  let sent = 0;
  const attacker = async (): Promise<void> => {
    while (sent < FLOOD_REQUESTS) {
      sent += 1;
      const status = await ask(agent, generateKey("live"));
      flooded.set(status, (flooded.get(status) ?? 0) + 1);
    }
  };
  const startedAt = performance.now();
  let isOver = false;
  const flood = Promise.all(Array.from({ length: FLOOD_CONNECTIONS }, attacker)).then(() => void (isOver = true));
  await eventually(() => expect(flooded.get(503)).toBeGreaterThan(0));
  const statuses = new Map<number, number>();
  const owner = async (): Promise<void> => {
    while (!isOver) {
      const { status } = await stack.get("/api/v1/links", brand.key);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
  };
  await Promise.all([flood, owner(), owner()]);
  agent.destroy();
  expect([...statuses.keys()]).toEqual([200]);
  expect(flooded.get(200)).toBeUndefined();
  const perSecond = Math.round((FLOOD_REQUESTS * 1_000) / (performance.now() - startedAt));
  process.stdout.write(`${perSecond} made-up keys a second: ${statuses.get(200)} requests with a key in use, all 200\n`);
}, 120_000);
