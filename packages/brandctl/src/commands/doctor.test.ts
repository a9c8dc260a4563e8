import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FakeAccounts } from "../testing/fake-accounts.ts";
import { FakeImports } from "../testing/fake-imports.ts";
import { FakePlans } from "../testing/fake-plans.ts";
import { FakeWebhook } from "../testing/fake-webhook.ts";
import { serve, type Served } from "../testing/serve.ts";
import { brandctl } from "../testing/test-terminal.ts";

interface Checked {
  readonly ok: boolean;
  readonly checks: readonly { name: string; state: string; detail: string; remedy?: string }[];
}

describe("brandctl doctor", () => {
  let accounts: Served;
  let plans: Served;
  let records: Served;
  let webhook: Served;
  let http: Server;
  let origin: string;
  let folder: string;
  let ready = true;
  /** What /readyz answers of every process. */
  let readiness: string;
  beforeEach(async () => {
    ready = true;
    readiness = '{"status":"ready"}';
    accounts = await serve(new FakeAccounts().served);
    plans = await serve(new FakePlans().served);
    records = await serve(new FakeImports().served);
    webhook = await serve(...new FakeWebhook().served);
    http = createServer((request, response) => {
      response.statusCode = request.url === "/openapi/service.yaml" || (request.url === "/readyz" && ready) ? 200 : 503;
      response.end(request.url === "/readyz" ? readiness : "");
    });
    await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
    origin = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
    folder = await mkdtemp(join(tmpdir(), "brandctl-"));
    await mkdir(join(folder, ".local"));
    const run = {
      base_url: origin,
      rpc: { accounts: accounts.address, plans: plans.address, records: records.address, webhook: webhook.address },
      admin: { gateway: origin, accounts: origin, plans: origin, records: origin, webhook: origin },
    };
    await writeFile(join(folder, ".local/run.json"), JSON.stringify(run));
  });
  afterEach(async () => {
    await Promise.all([
      accounts.stop(),
      plans.stop(),
      records.stop(),
      webhook.stop(),
      new Promise((resolve) => http.close(resolve)),
      rm(folder, { recursive: true }),
    ]);
  });

  it("is content when everything answers", async () => {
    const { code, stdout } = await brandctl(["doctor"], { cwd: folder });
    expect(code).toBe(0);
    expect(stdout.match(/✓/g)).toHaveLength(11);
    expect(stdout).toContain("All is well.");
  });

  it("warns of what serves without its event log, says that nothing is lost and where to look, and exits with 0", async () => {
    readiness = '{"status":"ready","degraded":["event log"]}';
    const { code, stdout } = await brandctl(["doctor"], { cwd: folder });
    expect(code).toBe(0);
    expect(stdout.match(/!.*ready +serves without its event log/g)).toHaveLength(5);
    expect(stdout).toContain("Is Kafka reachable (KAFKA_BROKERS), or without Kafka the webhook service?");
    expect(stdout).toContain("Events wait in the outbox, nothing is lost.");
    expect(stdout).not.toContain("All is well.");
    expect(stdout).toContain("Everything serves, but not all is well.");
    const { ok, checks } = (await brandctl(["doctor", "--json"], { cwd: folder })).json<Checked>();
    expect(ok).toBe(true);
    expect(checks.find(({ name }) => name === "records, ready")).toMatchObject({ state: "warning", remedy: expect.any(String) });
  });

  it.each(['{"status":"ready","degraded":[]}', '{"status":"ready","degraded":"x"}', "ready", "null", ""])(
    "takes %j for ready: the status is what counts",
    async (answer) => {
      readiness = answer;
      expect((await brandctl(["doctor"], { cwd: folder })).stdout).toContain("All is well.");
    },
  );

  it("says what is not reachable and what to do, and exits with 1", async () => {
    await records.stop();
    ready = false;
    const outcome = await brandctl(["doctor", "--json"], { cwd: folder });
    expect(outcome.code).toBe(1);
    const { ok, checks } = outcome.json<Checked>();
    expect(ok).toBe(false);
    expect(Object.fromEntries(checks.map(({ name, state }) => [name, state]))).toEqual({
      "run file": "ok",
      "accounts, gRPC": "ok",
      "plans, gRPC": "ok",
      "records, gRPC": "failed",
      "webhook, gRPC": "ok",
      "gateway, ready": "failed",
      "accounts, ready": "failed",
      "plans, ready": "failed",
      "records, ready": "failed",
      "webhook, ready": "failed",
      "base URL": "ok",
    });
    expect(checks.filter(({ state, remedy }) => state === "failed" && remedy === undefined)).toEqual([]);
  });

  it("needs no run file when settings say where things are", async () => {
    const env = {
      ACCOUNTS_ADDRESS: accounts.address,
      PLANS_ADDRESS: plans.address,
      RECORDS_ADDRESS: records.address,
      WEBHOOK_ADDRESS: webhook.address,
      BASE_URL: `${origin}/`,
    };
    const outcome = await brandctl(["doctor", "--json"], { env });
    expect(outcome.code).toBe(0);
    expect(outcome.json<Checked>().checks.map(({ state }) => state)).toEqual([
      "unknown",
      "ok",
      "ok",
      "ok",
      "ok",
      "unknown",
      "unknown",
      "unknown",
      "unknown",
      "unknown",
      "ok",
    ]);
  });

  it("is content with a run of before there was a webhook service", async () => {
    await webhook.stop();
    const path = join(folder, ".local/run.json");
    const run = JSON.parse(await readFile(path, "utf8")) as Record<"rpc" | "admin", { webhook?: string }>;
    delete run.rpc.webhook;
    delete run.admin.webhook;
    await writeFile(path, JSON.stringify(run));
    const outcome = await brandctl(["doctor", "--json"], { cwd: folder });
    expect(outcome.code).toBe(0);
    const unknown = outcome.json<Checked>().checks.filter(({ state }) => state === "unknown");
    expect(unknown.map(({ name }) => name)).toEqual(["webhook, gRPC", "webhook, ready"]);
  });

  it("says what to do when nothing is known", async () => {
    const { code, stdout } = await brandctl(["doctor"]);
    expect(code).toBe(1);
    expect(stdout).toContain("npm start");
  });
});
