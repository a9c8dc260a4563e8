import { freePort } from "@brand-records/postgres/embedded";
import type { ServiceProcess } from "@brand-records/testkit";
import type { ServiceName } from "./options.ts";
import { portOf, type StartOwned } from "./processes.ts";
import type { StackSettings } from "./settings.ts";
import { scriptOf } from "../program-script.ts";

export interface Gateway {
  readonly url: string;
  /** The current one, after `restart`. */
  readonly process: ServiceProcess;
  /** The console of this gateway, if the stack has consoles. */
  readonly console: Console | undefined;
}

export interface Console {
  /** The URL of its pages, on the gateway. */
  readonly url: string;
  /** The current one, after `restart`. */
  readonly process: ServiceProcess;
}

/** A gateway whose processes a restart replaces. */
interface ReplaceableGateway extends Gateway {
  process: ServiceProcess;
  console: { readonly url: string; process: ServiceProcess } | undefined;
}

export interface GatewaysOptions {
  readonly settings: StackSettings;
  /** gRPC targets. */
  readonly targets: Readonly<Record<ServiceName, string>>;
}

/** The gateways, each with its console, if the stack has consoles. */
export class StackGateways {
  readonly #startOwned: StartOwned;
  readonly #options: GatewaysOptions;
  #running: ReplaceableGateway[] = [];

  private constructor(startOwned: StartOwned, options: GatewaysOptions) {
    this.#startOwned = startOwned;
    this.#options = options;
  }

  static async start(startOwned: StartOwned, options: GatewaysOptions, count: number, hasConsole: boolean): Promise<StackGateways> {
    const gateways = new StackGateways(startOwned, options);
    gateways.#running = await Promise.all(Array.from({ length: count }, () => gateways.#start(hasConsole)));
    return gateways;
  }

  get all(): readonly [Gateway, ...Gateway[]] {
    return this.#running as [Gateway, ...Gateway[]];
  }

  get processes(): ServiceProcess[] {
    return this.#running.flatMap(({ process, console }) => [process, ...(console ? [console.process] : [])]);
  }

  /** Starts the first gateway's ended process again on its port. */
  async restartGateway(): Promise<void> {
    const [first] = this.#running as [ReplaceableGateway];
    first.process = await this.#runGateway(first.console, portOf(first.process, "port"));
  }

  /** Starts the first console's ended process again on its port. */
  async restartConsole(): Promise<void> {
    const [{ console }] = this.#running as [ReplaceableGateway];
    if (console === undefined) throw new Error("the stack has no console: set hasConsole");
    console.process = await this.#runConsole(console.url, portOf(console.process, "port"));
  }

  async #start(hasConsole: boolean): Promise<ReplaceableGateway> {
    // The console must know where its pages are before the gateway listens there.
    const port = hasConsole ? await freePort() : 0;
    const url = `http://localhost:${port}`;
    const console = hasConsole ? { url, process: await this.#runConsole(url, 0) } : undefined;
    const process = await this.#runGateway(console, port);
    return { url: `http://127.0.0.1:${portOf(process, "port")}`, process, console };
  }

  #runConsole(url: string, port: number): Promise<ServiceProcess> {
    const { settings, targets } = this.#options;
    return this.#startOwned({
      name: "console",
      script: scriptOf("console"),
      env: {
        ...settings("console"),
        PORT: String(port),
        PUBLIC_URL: url,
        ACCOUNTS_ADDRESS: targets.accounts,
        PLANS_ADDRESS: targets.plans,
        WEBHOOK_ADDRESS: targets.webhook,
      },
    });
  }

  #runGateway(console: Console | undefined, port: number): Promise<ServiceProcess> {
    const { settings, targets } = this.#options;
    return this.#startOwned({
      name: "gateway",
      script: scriptOf("gateway"),
      env: {
        ...settings("gateway"),
        HOST: "127.0.0.1",
        PORT: String(port),
        ...(console && { CONSOLE_ADDRESS: `127.0.0.1:${portOf(console.process, "port")}`, PUBLIC_URL: console.url }),
        ACCOUNTS_ADDRESS: targets.accounts,
        PLANS_ADDRESS: targets.plans,
        RECORDS_ADDRESS: targets.records,
      },
    });
  }
}
