import { Lifecycle } from "@brand-records/lifecycle";
import { openPool } from "@brand-records/postgres";
import { RecordsServiceService } from "@brand-records/proto/records/v1";
import { IntakeServiceService } from "@brand-records/proto/webhook/v1";
import { connectRpc, serveRpc, service } from "@brand-records/rpc";
import { openLog, openMetrics } from "@brand-records/telemetry";
import { createDatabase, eventually } from "@brand-records/testkit";
import { newId } from "@brand-records/ids";
import { callContext } from "../test/serve-records.ts";
import { parseConfig } from "./config.ts";
import { startRecords } from "./start.ts";

const CONNECTIONS = 2;

it("is ready while requests hold every connection of its pool", async () => {
  const database = await createDatabase("empty");
  const log = openLog("records", "silent");
  const life = new Lifecycle(log);
  const webhook = await serveRpc({
    config: { RPC_HOST: "127.0.0.1", RPC_PORT: 0, RPC_OPERATOR_WITHOUT_TLS: "true" },
    services: [service(IntakeServiceService, { publishMessages: async () => ({}) })],
    log,
    metrics: openMetrics("webhook"),
  });
  const env = {
    DATABASE_URL: database.url,
    DATABASE_CONNECTIONS_MAX: String(CONNECTIONS),
    WEBHOOK_ADDRESS: `127.0.0.1:${webhook.port}`,
    RPC_OPERATOR_WITHOUT_TLS: "true",
    RPC_PORT: "0",
    ADMIN_PORT: "0",
  };
  const ports = await startRecords(parseConfig(env), life, log);
  life.markReady();
  const readiness = async (): Promise<[number, string]> => {
    const response = await fetch(`http://127.0.0.1:${ports.admin_port}/readyz`);
    return [response.status, await response.text()];
  };
  const records = connectRpc(RecordsServiceService, `127.0.0.1:${ports.rpc_port}`);
  const elsewhere = openPool({ url: database.url, max: 2, applicationName: "elsewhere" });
  try {
    await eventually(async () => expect(await readiness()).toEqual([200, '{"status":"ready"}\n']));
    const [held] = await elsewhere.transaction(async (sql) => {
      // No late index is built on it: two locks on one table, each waiting for the other, would be a deadlock.
      await sql.query("lock records.campaigns");
      // A brand alone gets no more than a part of the pool.
      const calls = Array.from({ length: CONNECTIONS }, () => records.listCampaigns({ brand_id: newId("brd"), limit: 1 }, callContext()));
      const held = Promise.allSettled(calls);
      const locked =
        "select count(*) from pg_stat_activity where application_name = 'records' and wait_event_type = 'Lock' and datname = current_database()";
      await eventually(async () => expect(await elsewhere.query(locked)).toEqual([{ count: CONNECTIONS }]));
      expect(await readiness()).toEqual([200, '{"status":"ready"}\n']);
      return [held] as const;
    });
    expect((await held).map(({ status }) => status)).toEqual(["fulfilled", "fulfilled"]);
  } finally {
    records.stop();
    await life.stop();
    await webhook.stop();
    await elsewhere.stop();
    await database.drop();
  }
});
