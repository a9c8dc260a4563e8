import { openPool } from "@brand-records/postgres";
import { eventually, reserveKafkaServer, type KafkaServer } from "@brand-records/testkit";
import { readinessOf } from "../admin-port.ts";
import { seedBrand } from "../seed-brand.ts";
import { approveNew } from "../submissions.ts";
import { callContext, startStack, type Stack, type TestBrand } from "../stack.ts";

/** One promise: everything works while the event log is unavailable for a minute, and its events are delivered afterwards. */

const UNAVAILABLE_MS = 60_000;
/** Beyond what a process takes that finds the brokers there when it starts: that depends on the machine. */
const RECONNECT_MS_MAX = 10_000;
/** Bounds a wait. */
const CONNECTED_MS_MAX = 90_000;

let kafka: KafkaServer;
let stack: Stack;
let brand: TestBrand;

beforeAll(async () => {
  kafka = await reserveKafkaServer();
  stack = await startStack({ kafkaBrokers: kafka.brokers, env: { RATE_LIMIT_PLUS: "100000" } });
  brand = await stack.createBrand();
  await seedBrand(stack, brand.id);
}, 180_000);
afterAll(async () => {
  await stack.stop();
  await kafka.stop();
});

it(
  "serves for a minute without brokers, reports that it is degraded, and connects within ten seconds once they could",
  async () => {
    const { records, webhook } = stack.processes;
    const degraded = { status: "ready", degraded: ["event log"] };
    await stack.addReceiver(brand, "https://receiver.example/", ["submission.approved"]);
    const db = openPool({ url: stack.databaseUrl, applicationName: "platform" });
    const startedAt = performance.now();
    let changes = 0;
    while (performance.now() - startedAt < UNAVAILABLE_MS) {
      expect((await stack.get("/api/v1/submissions?limit=200", brand.key)).status).toBe(200);
      expect((await stack.receivers.listReceivers({ brand_id: brand.id }, callContext())).receivers).toHaveLength(1);
      expect([await readinessOf(records), await readinessOf(webhook)]).toEqual([degraded, degraded]);
      await approveNew(db, brand.id);
      changes += 1;
      await new Promise((resolve) => setTimeout(resolve, 250));
    }
    await kafka.start();
    const connected = { status: "ready" };
    const startedKafkaAt = performance.now();
    await eventually(
      async () => {
        expect([await readinessOf(records), await readinessOf(webhook)]).toEqual([connected, connected]);
        expect(await db.query("select count(*) as n from webhook.deliveries")).toEqual([{ n: changes }]);
      },
      { timeoutMs: CONNECTED_MS_MAX },
    );
    const startedAnotherAt = performance.now();
    const another = await stack.startAnother("webhook");
    await eventually(async () => expect(await readinessOf(another)).toEqual(connected), { timeoutMs: CONNECTED_MS_MAX });
    await another.kill("SIGKILL");
    const [reconnectedMs, connectedMs] = [startedAnotherAt - startedKafkaAt, performance.now() - startedAnotherAt];
    expect(reconnectedMs).toBeLessThan(RECONNECT_MS_MAX + connectedMs);
    await db.stop();
  },
  UNAVAILABLE_MS + 4 * CONNECTED_MS_MAX,
);
