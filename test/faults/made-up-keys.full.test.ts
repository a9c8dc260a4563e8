import { Agent, request } from "node:http";
import { generateKey } from "@brand-records/ids";
import { eventually } from "@brand-records/testkit";
import { startStack, type Stack, type TestBrand } from "../stack.ts";

/** One promise: a flood of made-up keys does not block keys in use. Runs without Redis, so that every request verifies its key. */

/** More than the limit of concurrent verifications: the rest are refused. */
const FLOOD_CONNECTIONS = 600;

let stack: Stack;
let brand: TestBrand;
beforeAll(async () => {
  stack = await startStack({ env: { RATE_LIMIT_PLUS: "100000", LOG_LEVEL: "warn", REQUEST_DEADLINE_MS: "20000" } });
  brand = await stack.createBrand();
});
afterAll(() => stack.stop());

function statusOf(agent: Agent, key: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${key}` };
    const sent = request(`${stack.url}/api/v1/links`, { agent, headers }, (response) => {
      response.resume().once("end", () => resolve(response.statusCode ?? 0));
    });
    sent.once("error", reject).end();
  });
}

it("serves a key in use while made-up keys with valid checksums occupy every other verification", async () => {
  expect((await stack.get("/api/v1/links", brand.key)).status).toBe(200);
  const agent = new Agent({ keepAlive: true, maxSockets: FLOOD_CONNECTIONS + 1 });
  const madeUp = () => statusOf(agent, generateKey("live"));
  const { pid } = stack.processes.accounts;
  // No verification finishes.
  process.kill(pid, "SIGSTOP");
  const refused: number[] = [];
  const flood = Promise.all(
    Array.from({ length: FLOOD_CONNECTIONS }, async () => {
      const status = await madeUp();
      if (status === 503) refused.push(status);
      return status;
    }),
  );
  await eventually(() => expect(refused.length).toBeGreaterThan(0));
  let hasResponse = false;
  const owner = stack.get("/api/v1/links", brand.key).finally(() => void (hasResponse = true));
  // A later request with a made-up key is refused; the owner's still waits.
  await expect(madeUp()).resolves.toBe(503);
  expect(hasResponse).toBe(false);
  process.kill(pid, "SIGCONT");
  expect((await owner).status).toBe(200);
  expect(new Set(await flood)).toEqual(new Set([401, 503]));
  agent.destroy();
});
