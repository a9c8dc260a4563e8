import { clockTime, CommandOutput, declareCommand, declareGroup } from "@brand-records/command-line";
import { Endpoints, type Endpoint, type GlobalOptions, type ServiceName } from "./connection/endpoints.ts";
import { CommandFailure, Interrupted, UsageFailure } from "./failure.ts";
import { askText, type Terminal } from "./terminal.ts";
import type * as Clients from "./connection/clients.ts";
import type { Client, ClientName, ImportClient } from "./connection/clients.ts";

/** Declares a command of brandctl. */
export const command = declareCommand<Session>();
export const group = declareGroup<Session>;

/** One run of one command: its input and output, and its connections, which close with it. */
export class Session extends CommandOutput<Terminal> {
  readonly endpoints: Endpoints;
  /** The ids that the command is about, by their placeholder in hints. */
  readonly ids = new Map<string, string>();
  readonly #opened: { stop(): void }[] = [];

  constructor(terminal: Terminal, json: boolean, options: GlobalOptions) {
    super(terminal, json);
    this.endpoints = new Endpoints(options, terminal.env, terminal.cwd);
  }

  /** Whether someone is there to ask: a terminal, and no `--json`. */
  get canAsk(): boolean {
    return !this.json && this.terminal.stdin.isTTY === true && this.terminal.stderr.isTTY === true;
  }

  /**
   * Asks at the terminal before something that cannot be undone.
   *
   * @param question such as `Delete it?`
   * @param undone such as `Nothing was deleted.`, for the errors
   * @throws CommandFailure `not_confirmed` for anything but yes; Interrupted at Ctrl-C; UsageFailure where there is no terminal,
   * and with `--json`
   */
  async confirm(question: string, undone: string): Promise<void> {
    if (!this.canAsk) {
      throw new UsageFailure("This cannot be undone, and there is no terminal to ask at.", "Add --yes to go on.");
    }
    const answer = await this.askText(`${question} [y/N] `, undone);
    if (!/^y(es)?$/i.test(answer)) throw new CommandFailure("not_confirmed", undone);
  }

  /** Asks for a text at the terminal. @throws Interrupted at Ctrl-C, with `undone` */
  async askText(question: string, undone: string): Promise<string> {
    const reply = await askText(this.terminal, question);
    if (reply === undefined) throw new Interrupted(undone);
    return reply;
  }

  /** Says until when a gateway may not know of a change to what keys may do, if that is not every gateway's next request. */
  noteAcceptedUntil(until: string | null | undefined): void {
    if (until == null) return;
    const text = `Accounts cannot reach Redis: a gateway may accept what it accepted before until ${clockTime(until)}.`;
    this.note(({ yellow }) => yellow(text));
  }

  /**
   * Returns a client, which connects with its first call and closes with the session.
   *
   * @param signal cancels calls in flight. Default: Ctrl-C
   * @param endpoint where records is, in the brand's cell
   * @throws CommandFailure if the address of its service is not known
   */
  client<Name extends ClientName>(name: Name, signal?: AbortSignal, endpoint?: Endpoint): Client<Name> {
    const connection = this.#connectionTo(endpoint ?? this.endpoints.get(name.replace(/\..*/, "") as ServiceName), signal);
    let opened: Promise<Clients.Caller> | undefined;
    const call = async (method: string, request: unknown): Promise<unknown> => {
      opened ??= this.#open(({ connect }) => connect(name, connection));
      return (await opened).call(method, request);
    };
    return new Proxy({} as Client<Name>, { get: (_, method) => (request: unknown) => call(String(method), request) });
  }

  async imports(cell: string | null): Promise<Clients.Connection & { readonly client: ImportClient }> {
    const connection = this.#connectionTo(this.endpoints.recordsIn(cell));
    return { ...connection, client: await this.#open(({ connectImport }) => connectImport(connection)) };
  }

  close(): void {
    for (const client of this.#opened.splice(0)) client.stop();
  }

  #connectionTo(endpoint: Endpoint, signal = this.terminal.interrupted): Clients.Connection {
    return { endpoint, tls: this.endpoints.tls(), signal };
  }

  async #open<Opened extends { stop(): void }>(connect: (clients: typeof Clients) => Opened): Promise<Opened> {
    // Loaded when needed: gRPC takes longer to load than help takes to run.
    const client = connect(await import("./connection/clients.ts"));
    this.#opened.push(client);
    return client;
  }
}
