import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { startProcess, type ServiceProcess } from "@brand-records/testkit";
import { scriptOf } from "../../program-script.ts";

/** A line of the access log for a request on the console's paths. */
export interface LoggedRequest {
  readonly request_id: string;
  readonly method: string;
  readonly status: number;
}

/** The compiled gateway, alone before an upstream in the console's place. Its services are unreachable: no request here needs them. */
export class GatewayUnderTest {
  #process: ServiceProcess | undefined;
  #logged: LoggedRequest[] = [];
  #lineBegun = "";
  /** How the process ended, if it did. */
  ended: string | undefined;

  static async start(consoleAddress: string): Promise<GatewayUnderTest> {
    const gateway = new GatewayUnderTest();
    const nowhere = "127.0.0.1:1";
    const running = await startProcess({
      name: "gateway",
      script: scriptOf("gateway"),
      env: {
        HOST: "127.0.0.1",
        PORT: "0",
        PUBLIC_URL: "https://records.example",
        TRUST_PROXY: "1",
        CONSOLE_ADDRESS: consoleAddress,
        ACCOUNTS_ADDRESS: nowhere,
        PLANS_ADDRESS: nowhere,
        RECORDS_ADDRESS: nowhere,
        HEADERS_TIMEOUT_MS: "1000",
        REQUEST_TIMEOUT_MS: "2000",
        STOP_GRACE_MS: "0",
        LOG_LEVEL: "info",
      },
      onOutput: (text) => gateway.#read(text),
    });
    gateway.#process = running;
    void running.exited.then((exit) => (gateway.ended = `${JSON.stringify(exit)}: ${running.output().slice(-4_000)}`));
    return gateway;
  }

  get port(): number {
    return (this.#running.ready as { port: number }).port;
  }

  get #running(): ServiceProcess {
    if (this.#process === undefined) throw new Error("the gateway has not started");
    return this.#process;
  }

  /** Returns the requests of the console's paths that were logged since the last call. */
  takeLogged(): LoggedRequest[] {
    return this.#logged.splice(0);
  }

  #read(text: string): void {
    const lines = (this.#lineBegun + text).split("\n");
    this.#lineBegun = lines.pop() ?? "";
    for (const line of lines) if (line.includes('"route":"console"')) this.#logged.push(JSON.parse(line) as LoggedRequest);
  }

  sockets(): number {
    const folder = `/proc/${this.#running.pid}/fd`;
    return readdirSync(folder).filter((name) => isSocket(join(folder, name))).length;
  }

  residentMib(): number {
    const [, kib] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${this.#running.pid}/status`, "utf8")) ?? [];
    return Number(kib) / 1024;
  }

  async stop(): Promise<void> {
    await this.#running.kill();
  }
}

/** A descriptor may close while it is read. */
function isSocket(path: string): boolean {
  try {
    return readlinkSync(path).startsWith("socket:");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
    throw error;
  }
}
