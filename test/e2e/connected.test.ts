import { once } from "node:events";
import { createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { startProcess, type ServiceProcess } from "@brand-records/testkit";
import { scriptOf } from "../program-script.ts";

/** One promise: a process that callers reach has tried to connect to its services before it says that it is ready. */

let service: Server;
const accepted: Socket[] = [];
let running: ServiceProcess | undefined;

beforeEach(async () => {
  // It answers nothing: a process waits for two seconds.
  service = createServer((socket) => void accepted.push(socket)).listen(0, "127.0.0.1");
  await once(service, "listening");
});
afterEach(async () => {
  await running?.kill();
  for (const socket of accepted.splice(0)) socket.destroy();
  service.close();
});

it.each(["gateway", "console"] as const)("%s", async (name) => {
  const address = `127.0.0.1:${(service.address() as AddressInfo).port}`;
  running = await startProcess({
    name,
    script: scriptOf(name),
    env: {
      HOST: "127.0.0.1",
      PORT: "0",
      ACCOUNTS_ADDRESS: address,
      PLANS_ADDRESS: address,
      RECORDS_ADDRESS: address,
      WEBHOOK_ADDRESS: address,
      STOP_GRACE_MS: "0",
    },
  });
  expect(accepted.length).toBeGreaterThanOrEqual(3);
});
