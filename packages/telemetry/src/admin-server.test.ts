import { request } from "node:http";
import { type AdminServer, type DegradedCheck, reportClock, startAdminServer } from "./admin-server.ts";
import { Counter, openMetrics } from "./metrics.ts";

let degraded: DegradedCheck[];
let notReady: () => readonly string[] | Promise<readonly string[]>;
let admin: AdminServer;
const metrics = openMetrics("records");
beforeEach(async () => {
  notReady = () => [];
  degraded = [];
  admin = await startAdminServer({ host: "127.0.0.1", port: 0, metrics, notReady: () => notReady(), degraded });
});
afterEach(() => admin.stop());

const get = async (path: string): Promise<[number, unknown]> => {
  const response = await fetch(`http://127.0.0.1:${admin.port}${path}`);
  return [response.status, await response.json()];
};

it("/healthz is 200 while the process lives, ready or not", async () => {
  notReady = () => ["process"];
  expect(await get("/healthz")).toEqual([200, { status: "ok" }]);
});

it("/readyz names what the process waits for, and is 200 once it waits for nothing", async () => {
  notReady = async () => ["accounts", "records"];
  expect(await get("/readyz")).toEqual([503, { status: "not ready", waiting_for: ["accounts", "records"] }]);
  notReady = () => [];
  expect(await get("/readyz")).toEqual([200, { status: "ready" }]);
});

const FAILING: [string, () => Promise<readonly string[]>][] = [
  [
    "throws",
    () => {
      throw new Error("hunter2");
    },
  ],
  ["rejects", () => Promise.reject(new Error("hunter2"))],
];

it.each(FAILING)("/readyz is 503 if the check itself %s, without its error", async (_, check) => {
  notReady = check;
  expect(await get("/readyz")).toEqual([503, { status: "not ready", waiting_for: ["readiness check"] }]);
});

it.each([...FAILING, ["hangs", () => new Promise<never>(() => {})] as const])(
  "/readyz is 200 and names the dependency if its check %s, beside what the others name",
  async (_, unavailable) => {
    degraded.push({ dependency: "event log", unavailable }, { dependency: "keys", unavailable: () => ["key 1", "key 2"] });
    expect(await get("/readyz")).toEqual([200, { status: "ready", degraded: ["event log", "key 1", "key 2"] }]);
  },
);

it("/metrics lists Node's metrics and registered ones, each with its service", async () => {
  new Counter({ name: "things_total", help: "Things.", registers: [metrics] }).inc(3);
  const response = await fetch(`http://127.0.0.1:${admin.port}/metrics`);
  expect(response.headers.get("content-type")).toContain("text/plain");
  const text = await response.text();
  expect(text).toContain('things_total{service="records"} 3');
  expect(text).toMatch(/process_cpu_seconds_total\{service="records"\} [\d.]+/);
});

it.each(["/", "/nothing", "/constructor", "/__proto__", "/healthz/", "//", "/%"])("%s is 404 and lists the paths", async (path) => {
  expect(await get(path)).toEqual([404, { status: "not found", paths: ["/healthz", "/readyz", "/metrics"] }]);
});

it.each(["*", "constructor", "http://elsewhere/healthz"])("never responds with 500, even for the request target %s", async (path) => {
  const status = await new Promise((resolve, reject) => {
    request({ port: admin.port, method: "OPTIONS", path }, (response) => resolve(response.resume().statusCode))
      .on("error", reject)
      .end();
  });
  expect([400, 404]).toContain(status);
});

it("stop closes kept-alive connections", async () => {
  await get("/healthz");
  await admin.stop();
  await expect(get("/healthz")).rejects.toThrow("fetch failed");
});

it("names a clock as degraded from 5 s of difference, ahead or behind, and shows by how much", async () => {
  const clock = { offsetSeconds: 0 };
  const { unavailable } = reportClock(clock, metrics);
  for (const [offset, names] of [
    [0, []],
    [4.9, []],
    [-4.9, []],
    [5, ["correct clock"]],
    [-5, ["correct clock"]],
    [600, ["correct clock"]],
  ] as const) {
    clock.offsetSeconds = offset;
    expect([offset, unavailable()]).toEqual([offset, names]);
    expect(await metrics.metrics()).toContain(`clock_offset_seconds{service="records"} ${offset}\n`);
  }
});
