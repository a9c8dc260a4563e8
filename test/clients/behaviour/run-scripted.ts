import type { IssuedCertificate } from "@brand-records/testkit";
import { drive, type Ask, type Driver, type Output } from "./drivers.ts";
import { KEY } from "./scenarios.ts";
import { ScriptedServer, type Received, type Script } from "./scripted-server.ts";

export interface Run {
  readonly output: Output;
  readonly received: readonly Received[];
}

/** Has a driver do something with a server that follows the script. */
export async function run(
  driver: Driver,
  script: Script,
  ask: Partial<Ask> = {},
  { certificate, scheme }: { readonly certificate?: IssuedCertificate; readonly scheme?: "http" | "https" } = {},
): Promise<Run> {
  const server = await ScriptedServer.start(script, certificate);
  try {
    const output = await drive(driver, { action: "list", resource: "payouts", keys: [KEY], url: server.url(scheme), ...ask });
    return { output, received: server.received };
  } finally {
    await server.stop();
  }
}
