import { eventually } from "@brand-records/testkit";
import { startClients } from "../clients-in-turn.ts";
import { startStack, type Stack } from "../stack.ts";

/** One promise: while one process of a service stops or is frozen, the other serves every request. */

let stack: Stack;
let key: string;
beforeAll(async () => {
  stack = await startStack({ replicas: true, env: { RATE_LIMIT_PLUS: "100000" } });
  ({ key } = await stack.createBrand());
});
afterAll(() => stack.stop());

/** Reads pages until `meanwhile` has ended and 200 more were read. Returns the statuses that occurred. */
async function statusesWhile(meanwhile: () => Promise<void>): Promise<Set<number>> {
  const clients = startClients(8, async () => (await stack.get("/api/v1/links", key)).status);
  const { results } = clients;
  await eventually(() => expect(results.length).toBeGreaterThan(100));
  await meanwhile();
  const before = results.length;
  await eventually(() => expect(results.length).toBeGreaterThan(before + 200));
  return new Set(await clients.stop());
}

it.each(["records", "accounts"] as const)("fails no request when one of two %s processes is frozen, and when it thaws", async (service) => {
  const pid = stack.replicas?.[service].pid as number;
  const frozen = await statusesWhile(async () => void process.kill(pid, "SIGSTOP"));
  const thawed = await statusesWhile(async () => void process.kill(pid, "SIGCONT"));
  expect([frozen, thawed]).toEqual([new Set([200]), new Set([200])]);
});

it.each(["records", "accounts"] as const)("fails no request when one of two %s processes stops", async (service) => {
  const statuses = await statusesWhile(async () => {
    expect(await stack.replicas?.[service].kill("SIGTERM")).toEqual({ code: 0, signal: null });
  });
  expect(statuses).toEqual(new Set([200]));
});
