import { randomBytes } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { freePort } from "@brand-records/postgres/embedded";
import { startProcess, type ServiceProcess } from "@brand-records/testkit";
import { scriptIn } from "../program-script.ts";

/** Sorted as an update goes: a service before its callers. */
export const PROCESS_TYPES = ["accounts", "records", "plans", "webhook", "console", "gateway"] as const;
export type ProcessType = (typeof PROCESS_TYPES)[number];

const REPLICAS = 2;
/** Time for which a process is still reached after SIGTERM: balancers notice late. Less than its grace period. */
const NOTICE_MS = 500;

/** The traffic goes on meanwhile, so a start takes longer than alone. */
const READY_MS_MAX = 120_000;

/** The folder with the compiled code of a release. */
export type Release = string;

interface Member {
  readonly process: ServiceProcess;
  readonly address: string;
  /** Is replaced, and still reached. */
  isLeaving: boolean;
}

/** What a process listens on. */
interface Ports {
  readonly port?: number;
  readonly admin_port?: number;
}

export interface FleetOptions {
  readonly databaseUrl: string;
  readonly dnsPort: number;
  /** IPv4 addresses by name, from which the DNS server answers, as that of a headless Service of Kubernetes does. */
  readonly addresses: Map<string, readonly string[]>;
  readonly settings: Readonly<Record<string, string>>;
  /** Processes that start take CPU from those that serve, as on a node without requests. Default: they leave it to them. */
  readonly startsCompete?: boolean;
  /** Read at each start of a process. Default: `databaseUrl` for each type, and keys of the fleet's own. */
  secretsOf?(type: ProcessType): Readonly<Record<string, string>>;
  /** Files for mutual TLS. Default: plaintext. */
  tlsOf?(type: ProcessType | "operator"): TlsSettings;
}

export interface TlsSettings {
  readonly RPC_TLS_CERT: string;
  readonly RPC_TLS_KEY: string;
  readonly RPC_TLS_CA: string;
}

/** Without TLS, processes call only names of this machine. */
export const hostOf = (type: ProcessType): string => `${type}.localhost`;

/** Two processes of each type, each on an address of its own, found by name. Replacements are ready before the old get SIGTERM. */
export class Fleet {
  readonly #options: FleetOptions;
  readonly #rpcPort: number;
  readonly #members = new Map<ProcessType, Member[]>();
  readonly #ending: Promise<void>[] = [];
  readonly #keys = {
    KEY_PEPPERS: `1:${randomBytes(32).toString("base64")}`,
    RECEIVER_SECRET_KEYS: `1:${randomBytes(32).toString("base64")}`,
  };
  /** The last byte of the next address. */
  #next = 2;
  #turn = 0;
  /** Exits with another code than 0: `records: exit code 1`. */
  readonly badExits: string[] = [];
  readonly #started: ServiceProcess[] = [];
  /** Settings of the processes that start from now on, besides those of all. */
  settings: Readonly<Record<string, string>> = {};

  private constructor(options: FleetOptions, rpcPort: number) {
    this.#options = options;
    this.#rpcPort = rpcPort;
  }

  static async start(options: FleetOptions, release: Release): Promise<Fleet> {
    const fleet = new Fleet(options, await freePort());
    try {
      for (const type of PROCESS_TYPES) {
        const members = await Promise.all(Array.from({ length: REPLICAS }, () => fleet.#start(type, release)));
        fleet.#show(type, members);
      }
      return fleet;
    } catch (error) {
      await fleet.stop();
      throw error;
    }
  }

  /** A gRPC target for this process: the addresses of now. */
  target(type: ProcessType): string {
    return `ipv4:${(this.#members.get(type) ?? []).map(({ address }) => `${address}:${this.#rpcPort}`).join(",")}`;
  }

  /** The settings of a client that calls as the operator; none without TLS. */
  get operator(): TlsSettings | object {
    return this.#options.tlsOf?.("operator") ?? {};
  }

  /** `/metrics` of each process, by its type and place among those of its type. */
  async metrics(): Promise<ReadonlyMap<string, string>> {
    const members = [...this.#members].flatMap(([type, each]) => each.map((member, n) => [`${type} ${n + 1}`, member] as const));
    const texts = members.map(async ([name, { process }]) => {
      const response = await fetch(`http://127.0.0.1:${(process.ready as Ports).admin_port}/metrics`);
      return [name, await response.text()] as const;
    });
    return new Map(await Promise.all(texts));
  }

  /** A gRPC target for the fleet's processes. */
  #nameOf(type: ProcessType): string {
    return `dns://127.0.0.1:${this.#options.dnsPort}/${hostOf(type)}:${this.#rpcPort}`;
  }

  /**
   * The origin of one of the type's processes that balancers consider ready; undefined if there is none. With TLS the console serves
   * gateways only, so it is reached through them.
   */
  origin(type: "gateway" | "console"): string | undefined {
    const members = this.#members.get(this.#options.tlsOf === undefined ? type : "gateway") ?? [];
    return members[this.#turn++ % members.length]?.address;
  }

  /**
   * Replaces the processes of a type, one after the other.
   *
   * @param leaveAfterMs how long the old processes serve on, with their settings, beside all replacements. Default: each leaves when its own
   * is ready.
   */
  async roll(type: ProcessType, release: Release, leaveAfterMs?: number): Promise<void> {
    const leaving = (this.#members.get(type) ?? []).filter((member) => !member.isLeaving);
    for (let replica = 0; replica < REPLICAS; replica += 1) {
      const added = await this.#start(type, release);
      this.#show(type, [...(this.#members.get(type) ?? []), added]);
      const replaced = leaving[replica];
      if (replaced !== undefined && leaveAfterMs === undefined) this.#ending.push(this.#end(type, replaced));
    }
    if (leaveAfterMs !== undefined) for (const member of leaving) this.#ending.push(this.#end(type, member, leaveAfterMs));
  }

  /** Rolls every type at the same time, as Kubernetes does when every Deployment changes. */
  async rollAll(release: Release): Promise<void> {
    await Promise.all(PROCESS_TYPES.map((type) => this.roll(type, release)));
  }

  /** Resolves when the processes that were replaced have exited. */
  async ended(): Promise<void> {
    await Promise.all(this.#ending);
  }

  /** What every process logged, by its type and the order of starts: `records-7`. */
  logs(): Map<string, string> {
    return new Map(this.#started.map((process, n) => [`${process.name}-${n + 1}`, process.output()]));
  }

  async stop(): Promise<void> {
    for (const type of PROCESS_TYPES) for (const member of this.#members.get(type) ?? []) void member.process.kill("SIGKILL");
    await Promise.all([...this.#members.values()].flat().map(({ process }) => process.exited));
    await this.ended();
  }

  async #end(type: ProcessType, member: Member, leaveAfterMs = 0): Promise<void> {
    member.isLeaving = true;
    await pause(leaveAfterMs);
    const exited = member.process.kill("SIGTERM");
    await pause(NOTICE_MS);
    this.#show(
      type,
      (this.#members.get(type) ?? []).filter((each) => each !== member),
    );
    const { code, signal } = await exited;
    if (code !== 0) this.badExits.push(`${type}: ${signal ?? `exit code ${code}`}`);
  }

  #show(type: ProcessType, members: Member[]): void {
    this.#members.set(type, members);
    this.#options.addresses.set(
      hostOf(type),
      members.map(({ address }) => address),
    );
  }

  async #start(type: ProcessType, release: Release): Promise<Member> {
    const address = `127.0.0.${this.#next++}`;
    const isHttp = type === "gateway" || type === "console";
    const script = scriptIn(release, type);
    const process = await startProcess({
      name: type,
      script,
      env: this.#envOf(type, address),
      readyMsMax: READY_MS_MAX,
      // Each process on a node has the CPU that it requests. Here those that start would take it from those that serve.
      startsBehindOthers: this.#options.startsCompete !== true,
    });
    this.#started.push(process);
    const { port = 0 } = process.ready as Ports;
    return { process, address: isHttp ? `http://127.0.0.1:${port}` : address, isLeaving: false };
  }

  #envOf(type: ProcessType, address: string): Record<string, string> {
    const { databaseUrl, settings, secretsOf, tlsOf } = this.#options;
    return {
      ...settings,
      ...this.settings,
      ...(secretsOf?.(type) ?? { ...this.#keys, DATABASE_URL: databaseUrl }),
      ...tlsOf?.(type),
      // Else grpc-js asks the system's resolver, whichever server a target names.
      GRPC_NODE_USE_ALTERNATIVE_RESOLVER: "true",
      // Unknown settings are ignored, so every type gets all.
      DATABASE_CONNECTIONS_MAX: "5",
      ADMIN_PORT: "0",
      HOST: "127.0.0.1",
      PORT: "0",
      PUBLIC_URL: "http://localhost:8080",
      RPC_HOST: address,
      ...(type === "gateway" && tlsOf !== undefined && { CONSOLE_ADDRESS: this.#consoleAddress() }),
      RPC_PORT: String(this.#rpcPort),
      ACCOUNTS_ADDRESS: this.#nameOf("accounts"),
      PLANS_ADDRESS: this.#nameOf("plans"),
      RECORDS_ADDRESS: this.#nameOf("records"),
      WEBHOOK_ADDRESS: this.#nameOf("webhook"),
      RECEIVERS_ON_LOOPBACK: "true",
      RATE_LIMIT_PLUS: "100000",
      LOG_LEVEL: "warn",
    };
  }

  /** `host:port` of a console. A gateway keeps it, so while gateways forward to consoles these are not replaced. */
  #consoleAddress(): string {
    const members = this.#members.get("console") ?? [];
    const member = members[this.#turn++ % members.length] as Member;
    return new URL(member.address).host;
  }
}
