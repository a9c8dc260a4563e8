import { clockTime, CommandOutput } from "@brand-records/command-line";
import { AuditLog } from "./audit/audit-log.ts";
import {
  ACCOUNTS_CALLS,
  auditedClient,
  DELIVERIES_CALLS,
  EVENTS_CALLS,
  RECEIVERS_CALLS,
  type AuditedCalls,
} from "./audit/audited-client.ts";
import { Endpoints, type Endpoint, type GlobalOptions, type ServiceName, type TlsFiles } from "./connection/endpoints.ts";
import { CommandFailure, Interrupted, UsageFailure } from "./failure.ts";
import { ask, askText, type Terminal } from "./terminal.ts";
import type * as Clients from "./connection/clients.ts";

const UNFINISHED = "The outcome is missing from the audit log: accounts could not be reached a second time.";

/** One run of one command: its input and output, and its connections, which close with it. */
export class Session extends CommandOutput<Terminal> {
  readonly endpoints: Endpoints;
  /** The ids that the command is about, by their placeholder in hints. */
  readonly ids = new Map<string, string>();
  readonly #open: { stop(): void }[] = [];
  readonly #auditLog = new AuditLog(
    // Ctrl-C does not cancel these calls: the log tells that the change was interrupted.
    () => (this.#audit ??= this.#connect("accounts", ({ connectAudit }) => connectAudit, new AbortController().signal)),
    () => this.note(({ yellow }) => yellow(UNFINISHED)),
  );
  #audit: Promise<Clients.AuditClient> | undefined;

  constructor(terminal: Terminal, options: GlobalOptions) {
    super(terminal, options.json === true);
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
    const answer = await ask(this.terminal, question);
    if (answer === "interrupted") throw new Interrupted(undone);
    if (answer === "no") throw new CommandFailure("not_confirmed", undone);
  }

  /** Asks for a text at the terminal. @throws Interrupted at Ctrl-C, with `undone` */
  async askText(question: string, undone: string): Promise<string> {
    const reply = await askText(this.terminal, question);
    if (reply === "interrupted") throw new Interrupted(undone);
    return reply.text;
  }

  /** Says until when a gateway may not know of a change to what keys may do, if that is not every gateway's next request. */
  noteAcceptedUntil(until: string | null | undefined): void {
    if (until == null) return;
    const text = `Accounts cannot reach Redis: a gateway may accept what it accepted before until ${clockTime(until)}.`;
    this.note(({ yellow }) => yellow(text));
  }

  accounts(): Promise<Clients.AccountsClient> {
    return this.#audited(
      ACCOUNTS_CALLS,
      this.#connect("accounts", ({ connectAccounts }) => connectAccounts),
    );
  }

  usage(): Promise<Clients.UsageClient> {
    return this.#connect("accounts", ({ connectUsage }) => connectUsage);
  }

  audit(): Promise<Clients.AuditClient> {
    return this.#connect("accounts", ({ connectAudit }) => connectAudit);
  }

  signIn(): Promise<Clients.SignInClient> {
    return this.#connect("accounts", ({ connectSignIn }) => connectSignIn);
  }

  plans(): Promise<Clients.PlansClient> {
    return this.#connect("plans", ({ connectPlans }) => connectPlans);
  }

  /** @param signal cancels calls in flight. Default: Ctrl-C. */
  receivers(signal?: AbortSignal): Promise<Clients.ReceiversClient> {
    return this.#audited(
      RECEIVERS_CALLS,
      this.#connect("webhook", ({ connectReceivers }) => connectReceivers, signal),
    );
  }

  deliveries(): Promise<Clients.DeliveriesClient> {
    return this.#audited(
      DELIVERIES_CALLS,
      this.#connect("webhook", ({ connectDeliveries }) => connectDeliveries),
    );
  }

  events(): Promise<Clients.EventsClient> {
    return this.#audited(
      EVENTS_CALLS,
      this.#connect("webhook", ({ connectEvents }) => connectEvents),
    );
  }

  operator(service: Clients.OperatorServiceName): Promise<Clients.OperatorClient> {
    return this.#connect(service, ({ connectOperator }) => connectOperator(service));
  }

  /** What accounts does for operators alone. It writes its own audit entries. */
  accountsOperator(): Promise<Clients.AccountsOperatorClient> {
    return this.#connect("accounts", ({ connectAccountsOperator }) => connectAccountsOperator);
  }

  plansOperator(): Promise<Clients.PlansOperatorClient> {
    return this.#connect("plans", ({ connectPlansOperator }) => connectPlansOperator);
  }

  /** What deletes a brand, by service. */
  async deleters(): Promise<Clients.Deleters> {
    return {
      accounts: await this.#connect("accounts", ({ connectDeletion }) => connectDeletion.accounts),
      plans: await this.#connect("plans", ({ connectDeletion }) => connectDeletion.plans),
      records: await this.#connect("records", ({ connectDeletion }) => connectDeletion.records),
      webhook: await this.#connect("webhook", ({ connectDeletion }) => connectDeletion.webhook),
    };
  }

  async imports(): Promise<{ readonly client: Clients.ImportClient; readonly endpoint: Endpoint; readonly tls: TlsFiles }> {
    const client = await this.#connect("records", ({ connectImport }) => connectImport);
    return { client, endpoint: this.endpoints.get("records"), tls: this.endpoints.tls() };
  }

  close(): void {
    for (const client of this.#open.splice(0)) client.stop();
  }

  async #audited<Client extends { stop(): void }>(calls: AuditedCalls<Client>, connecting: Promise<Client>): Promise<Client> {
    return auditedClient(await connecting, calls, this.#auditLog);
  }

  async #connect<Client extends { stop(): void }>(
    service: ServiceName,
    choose: (clients: typeof Clients) => (connection: Clients.Connection) => Client,
    signal = this.terminal.interrupted,
  ): Promise<Client> {
    const endpoint = this.endpoints.get(service);
    // Loaded when needed: gRPC takes longer to load than help takes to run.
    const client = choose(await import("./connection/clients.ts"))({ endpoint, tls: this.endpoints.tls(), signal });
    this.#open.push(client);
    return client;
  }
}
