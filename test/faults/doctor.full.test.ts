import { openPool } from "@brand-records/postgres";
import { eventually, startKafkaServer, type KafkaServer } from "@brand-records/testkit";
import { adminUrlOf } from "../admin-port.ts";
import { addressSettings, brandctl } from "../command-line.ts";
import { approveNew } from "../submissions.ts";
import { startStack, type Stack } from "../stack.ts";

/** One promise: brandctl doctor never reports a healthy system while events are stuck. */

/** Events count as stuck after 15 s; only timeouts reveal a frozen broker. */
const DETECTION_MS_MAX = 60_000;
jest.setTimeout(4 * DETECTION_MS_MAX);

let kafka: KafkaServer;
let stack: Stack;
beforeAll(async () => {
  kafka = await startKafkaServer();
  stack = await startStack({ kafkaBrokers: kafka.brokers, hasConsole: true });
});
afterAll(async () => {
  await stack.stop();
  await kafka.stop();
});

interface Outcome {
  readonly code: number;
  readonly verdict: string;
  readonly checks: readonly { readonly name: string; readonly state: string; readonly detail: string }[];
}

/** Runs brandctl doctor with these settings and no run file. */
async function doctor(env: Readonly<Record<string, string>>): Promise<Outcome> {
  const { code, stdout } = await brandctl(["doctor", "--json", "--wait", "0"], { env, cwd: "/" });
  return { code: code ?? -1, ...(JSON.parse(stdout) as Omit<Outcome, "code">) };
}

it("reports stuck events and their remedy while Kafka is frozen, and a healthy system after the thaw", async () => {
  const rpc = { ...addressSettings(stack.addresses), BASE_URL: stack.url };
  const [{ process: gateway, console }] = stack.gateways;
  if (console === undefined) throw new Error("the stack has no console");
  const processes = { ...stack.processes, gateway, console: console.process };
  const admin = Object.entries(processes).map(([name, process]) => [`${name.toUpperCase()}_ADMIN`, new URL(adminUrlOf(process)).host]);
  const all = { ...rpc, ...Object.fromEntries(admin) } as Record<string, string>;

  const well = { code: 0, verdict: "well" };
  await eventually(async () => expect(await doctor(all)).toMatchObject(well), { timeoutMs: DETECTION_MS_MAX });
  expect(await doctor(rpc)).toMatchObject({ code: 3, verdict: "not_all_checked" });

  await kafka.freeze();
  const db = openPool({ url: stack.databaseUrl, max: 1, applicationName: "test" });
  await approveNew(db, "brd_1");
  await db.stop();
  await eventually(
    async () => {
      const outcome = await doctor(all);
      expect(outcome).toMatchObject({ code: 1, verdict: "degraded" });
      const records = outcome.checks.find(({ name }) => name === "records, ready");
      expect(records).toMatchObject({
        state: "degraded",
        detail: expect.stringMatching(/^serves without its event log; the oldest event has waited for \d+ s in the outbox$/),
        remedy: expect.stringContaining("KAFKA_BROKERS"),
      });
    },
    { timeoutMs: DETECTION_MS_MAX },
  );

  await kafka.thaw();
  await eventually(async () => expect(await doctor(all)).toMatchObject(well), { timeoutMs: DETECTION_MS_MAX });
});
