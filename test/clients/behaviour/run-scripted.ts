import type { IssuedCertificate } from "@brand-records/testkit";
import { drive, type Ask, type Driver, type Output } from "./drivers.ts";
import { KEY } from "./scenarios.ts";
import { ScriptedServer, type Received, type Script } from "./scripted-server.ts";

export interface Run {
  readonly output: Output;
  readonly received: readonly Received[];
}

/** Has a driver do something with a server that follows the script. */
export async function run(driver: Driver, script: Script, ask: Partial<Ask> = {}, tls?: IssuedCertificate): Promise<Run> {
  const server = await ScriptedServer.start(script, tls);
  try {
    const output = await drive(driver, { action: "list", resource: "payouts", keys: [KEY], url: server.url(), ...ask });
    return { output, received: server.received };
  } finally {
    await server.stop();
  }
}
