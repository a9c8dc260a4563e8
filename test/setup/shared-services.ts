import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { randomBytes } from "node:crypto";
import { freePort } from "@brand-records/postgres/embedded";
import { startProcess } from "@brand-records/testkit";
import { createStackDatabase } from "../stack/database.ts";
import { ofEachService } from "../stack/options.ts";
import { endProcess } from "../stack/processes.ts";
import { startServices, type StackServices } from "../stack/services.ts";
import { settingsOf } from "../stack/settings.ts";
import type { SharedServices } from "../stack/shared.ts";
import { own } from "./started-services.ts";

/**
 * Sets TEST_SERVICES_URL, which answers with where the services run that test files share: those that restart none and make brands of
 * their own. The first request starts them. They run here because a test file's processes end with it.
 */
export async function offerSharedServices(): Promise<void> {
  let starting: ReturnType<typeof startShared> | undefined;
  const server = createServer((_, response) => {
    starting ??= startShared();
    starting.then(
      (shared) => answer(response, shared),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  own("shared services", async () => {
    server.close();
    server.closeAllConnections();
    await (await starting?.catch(() => undefined))?.stop();
  });
  process.env["TEST_SERVICES_URL"] = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const SHARED_ENV = { RECEIVERS_ON_LOOPBACK: "true", PUBLIC_URL: "https://records.example" };

async function startShared() {
  const database = await createStackDatabase();
  const topic = `test.${randomBytes(6).toString("hex")}`;
  const ports = await ofEachService(() => freePort());
  const settings = settingsOf(
    { databaseUrl: database.url, topic, ports },
    { env: SHARED_ENV, redisUrl: process.env["TEST_REDIS_URL"] ?? "" },
  );
  const { processes, addresses } = await startServices(startProcess, settings, ports, false);
  return {
    databaseUrl: database.url,
    addresses,
    processes,
    async stop() {
      await Promise.all(Object.values(processes).map(endProcess));
      await database.drop();
    },
  };
}

function answer(response: ServerResponse, { databaseUrl, addresses, processes }: Awaited<ReturnType<typeof startShared>>): void {
  const described: SharedServices = { databaseUrl, addresses, outputs: outputsOf(processes) };
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(described));
}

const outputsOf = ({ accounts, plans, records, webhook }: StackServices["processes"]): SharedServices["outputs"] => ({
  accounts: accounts.output(),
  plans: plans.output(),
  records: records.output(),
  webhook: webhook.output(),
});
