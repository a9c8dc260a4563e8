import { createColors } from "picocolors";
import type { AccountsClient, DeliveriesClient, EventsClient, ImportClient, PlansClient, ReceiversClient } from "./connection/clients.ts";
import { Endpoints, type Endpoint, type GlobalOptions } from "./connection/endpoints.ts";
import type { Screen, Terminal } from "./terminal.ts";

export type Colors = ReturnType<typeof createColors>;

const SLOW_MS = 1_000;
const WAITING = "Waiting until every gateway has been told, at most 32 seconds: accounts cannot reach Redis, or is slow.";

/** One run of one command: where it writes, what it is connected to. Whatever it opens is closed with it. */
export class Session {
  readonly terminal: Terminal;
  readonly json: boolean;
  readonly endpoints: Endpoints;
  readonly #open: { stop(): void }[] = [];

  constructor(terminal: Terminal, options: GlobalOptions) {
    this.terminal = terminal;
    this.json = options.json === true;
    this.endpoints = new Endpoints(options, terminal.env, terminal.cwd);
  }

  /** The result, on standard output: one JSON document with `--json`, else the text. */
  print(document: object, text: (colors: Colors) => string): void {
    const { stdout } = this.terminal;
    if (this.json) stdout.write(`${JSON.stringify(document, null, stdout.isTTY === true ? 2 : undefined)}\n`);
    else stdout.write(`${text(this.colorsFor(stdout))}\n`);
  }

  /** What a person should know beside the result: on standard error, and not at all with `--json`. */
  note(text: (colors: Colors) => string): void {
    if (!this.json) this.terminal.stderr.write(`${text(this.colorsFor(this.terminal.stderr))}\n`);
  }

  /** What `change` resolves to; a person is told what it waits for if that takes longer than a change usually does. */
  async untilEffective<T>(change: Promise<T>): Promise<T> {
    const slow = setTimeout(() => this.note(({ dim }) => dim(WAITING)), SLOW_MS);
    try {
      return await change;
    } finally {
      clearTimeout(slow);
    }
  }

  colorsFor(screen: Screen): Colors {
    return colorsFor(screen, this.terminal.env);
  }

  async accounts(): Promise<AccountsClient> {
    const endpoint = this.endpoints.get("accounts");
    // Loaded when needed: gRPC takes longer to load than help and completion take altogether.
    const { connectAccounts } = await import("./connection/clients.ts");
    return this.#own(connectAccounts(endpoint, this.endpoints.tls(), this.terminal.interrupted));
  }

  async plans(): Promise<PlansClient> {
    const endpoint = this.endpoints.get("plans");
    const { connectPlans } = await import("./connection/clients.ts");
    return this.#own(connectPlans(endpoint, this.endpoints.tls(), this.terminal.interrupted));
  }

  /** @param signal ends what is under way; Ctrl-C unless told otherwise */
  async receivers(signal: AbortSignal = this.terminal.interrupted): Promise<ReceiversClient> {
    const endpoint = this.endpoints.get("webhook");
    const { connectReceivers } = await import("./connection/clients.ts");
    return this.#own(connectReceivers(endpoint, this.endpoints.tls(), signal));
  }

  async deliveries(): Promise<DeliveriesClient> {
    const endpoint = this.endpoints.get("webhook");
    const { connectDeliveries } = await import("./connection/clients.ts");
    return this.#own(connectDeliveries(endpoint, this.endpoints.tls(), this.terminal.interrupted));
  }

  async events(): Promise<EventsClient> {
    const endpoint = this.endpoints.get("webhook");
    const { connectEvents } = await import("./connection/clients.ts");
    return this.#own(connectEvents(endpoint, this.endpoints.tls(), this.terminal.interrupted));
  }

  async importing(): Promise<{ readonly client: ImportClient; readonly endpoint: Endpoint }> {
    const endpoint = this.endpoints.get("records");
    const { connectImporting } = await import("./connection/clients.ts");
    return { client: this.#own(connectImporting(endpoint, this.endpoints.tls())), endpoint };
  }

  close(): void {
    for (const client of this.#open.splice(0)) client.stop();
  }

  #own<Client extends { stop(): void }>(client: Client): Client {
    this.#open.push(client);
    return client;
  }
}

/** Colours for a person's eyes only: on a terminal, unless NO_COLOR is set. */
export function colorsFor(screen: Screen, env: NodeJS.ProcessEnv): Colors {
  return createColors(screen.isTTY === true && !env["NO_COLOR"] && env["TERM"] !== "dumb");
}
