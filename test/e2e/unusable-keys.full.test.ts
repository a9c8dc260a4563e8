import { openPool, type Database } from "@brand-records/postgres";
import { eventually } from "@brand-records/testkit";
import { metricsOf, readinessOf } from "../admin-port.ts";
import { callContext, startStack, type Stack } from "../stack.ts";

/** One promise: a process that lacks a key says so, names it, and recovers. */

let db: Database;
let stack: Stack;
beforeAll(async () => {
  stack = await startStack();
  db = openPool({ url: stack.databaseUrl, applicationName: "test", max: 1 });
});
afterAll(async () => {
  await db.stop();
  await stack.stop();
});

const unusable = async (service: "accounts" | "webhook"): Promise<string[]> =>
  (await metricsOf(stack.processes[service])).match(/^unusable_keys\{.*/gm) ?? [];

it("webhook, while a delivery waits whose secret is sealed under a key that it lacks", async () => {
  const { webhook } = stack.processes;
  expect([await readinessOf(webhook), await unusable("webhook")]).toEqual([{ status: "ready" }, []]);
  const brand = await stack.createBrand();
  const { id } = await stack.addReceiver(brand, "https://hooks.brand.example/", ["submission.approved"]);
  await db.query("update webhook.receivers set secret_key_id = 2 where id = $1", [id]);
  await stack.receivers.sendTest({ brand_id: brand.id, receiver_id: id, type: undefined, next: false }, callContext());
  await eventually(async () => {
    expect(await readinessOf(webhook)).toEqual({ status: "ready", degraded: ["key 2 of RECEIVER_SECRET_KEYS"] });
    expect(await unusable("webhook")).toEqual([expect.stringMatching(/key_id="2".*\} 1$/)]);
  });
  await db.query("delete from webhook.receivers where id = $1", [id]);
  await eventually(async () => expect([await readinessOf(webhook), await unusable("webhook")]).toEqual([{ status: "ready" }, []]), {
    timeoutMs: 30_000,
  });
});

it("accounts, while another process has a different pepper under the same version", async () => {
  const { accounts } = stack.processes;
  expect(await readinessOf(accounts)).toEqual({ status: "ready" });
  await db.query(
    `insert into accounts.living_processes
     select 'other', 'other', jsonb_set(p.keys, '{0,fingerprint}', '"another"'), clock_timestamp() from accounts.living_processes p limit 1`,
  );
  await eventually(
    async () => {
      expect(await readinessOf(accounts)).toEqual({ status: "ready", degraded: [expect.stringMatching(/^key \d+ of KEY_PEPPERS$/)] });
      expect(await unusable("accounts")).toHaveLength(1);
    },
    { timeoutMs: 20_000 },
  );
  await db.query("delete from accounts.living_processes where id = 'other'");
  await eventually(async () => expect([await readinessOf(accounts), await unusable("accounts")]).toEqual([{ status: "ready" }, []]), {
    timeoutMs: 20_000,
  });
});
