import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { startPrometheus } from "./prometheus.ts";
import { writeScaledRules } from "./scale-rules.ts";
import { rm } from "node:fs/promises";
import { makeOwnedFolder } from "@brand-records/testkit";

/** One promise: in a drill an alert fires, and is over, sixty times sooner. */

let age = 0;
let folder = "";
let server: Server;

beforeAll(async () => {
  folder = await makeOwnedFolder("brand-records-rules-");
  server = createServer((_, response) => response.end(`outbox_oldest_seconds{service="records"} ${age}\n`));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});

afterAll(async () => {
  await new Promise((resolve) => server.close(resolve));
  await rm(folder, { recursive: true, force: true });
});

it("an event that is 2 s old fires the alert of one that is 2 minutes old; half a minute after it has left the alert is over", async () => {
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const prometheus = await startPrometheus({ rules: await writeScaledRules(join(folder, "rules")), targets: { records: url } });
  try {
    age = 2;
    const alert = await prometheus.untilFiring("OutboxLate", { severity: "page" });
    expect(alert.annotations["runbook_url"]).toBe("docs/runbooks/OutboxLate.md");
    age = 0;
    // The pair of 6 h and 30 m needs half an hour.
    await prometheus.untilOver("OutboxLate", { severity: "page" });
    const fired = await prometheus.query('max_over_time(ALERTS{alertname="OutboxLate",severity="page",alertstate="firing"}[1h])');
    expect(fired).toEqual([{ labels: { alertname: "OutboxLate", severity: "page", alertstate: "firing" }, value: 1 }]);
  } finally {
    await prometheus.stop();
  }
}, 180_000);
