import { eventually } from "@brand-records/testkit";
import { startStack, type Stack } from "../stack.ts";

/** One promise: while one process of a service stops, the other serves every request. */

let stack: Stack;
beforeAll(async () => {
  stack = await startStack({ replicas: true, env: { RATE_LIMIT_PLUS: "100000" } });
}, 60_000);
afterAll(() => stack.stop());

it.each(["records", "accounts"] as const)("fails no request when one of two %s processes stops", async (service) => {
  const { key } = await stack.createBrand();
  const statuses: number[] = [];
  let stopping = false;
  const client = async (): Promise<void> => {
    while (!stopping) statuses.push((await stack.get("/api/v1/links", key)).status);
  };
  const clients = Promise.all(Array.from({ length: 8 }, client));
  await eventually(() => expect(statuses.length).toBeGreaterThan(100));
  expect(await stack.replicas?.[service].kill("SIGTERM")).toEqual({ code: 0, signal: null });
  const before = statuses.length;
  await eventually(() => expect(statuses.length).toBeGreaterThan(before + 200));
  stopping = true;
  await clients;
  expect(new Set(statuses)).toEqual(new Set([200]));
});
