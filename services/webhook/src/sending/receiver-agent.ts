import { Resolver } from "node:dns/promises";
import { isIP, type LookupFunction, type Socket } from "node:net";
import { TIMED_OUT, withTimeout } from "@brand-records/lifecycle";
import { Agent, buildConnector, type Dispatcher } from "undici";
import { isPublicAddress } from "../domain/forbidden-addresses.ts";
import { isLoopbackHost } from "../domain/loopback.ts";
import { KeptConnections } from "./kept-connections.ts";

/** The whole attempt has 15 s; a connection that takes longer than this will not be of use to it. */
const CONNECT_MS = 10_000;
/** Of several addresses each is given so long: Node's 250 ms are less than the way to the other side of the world and back. */
const ADDRESS_MS = 2_500;
const RESOLVE_MS = 1_500;
const RESOLVE_TRIES = 2;
const RESOLVE_MS_MAX = 5_000;
/** Once there are IPv4 addresses, IPv6 ones are waited for no longer: some resolvers never answer for them. */
const SECOND_FAMILY_MS = 300;
/** Longer than undici's 4 s: a receiver that gets an event every ten seconds keeps its connection. Servers that say less are believed. */
const KEEP_ALIVE_MS = 30_000;

/** The URL, or a name in it, leads to an address that is not public. */
export class ForbiddenAddressError extends Error {
  readonly code = "FORBIDDEN_ADDRESS";
}

/** The name leads nowhere at the moment. */
export class UnresolvedNameError extends Error {
  readonly code: string;

  constructor(code: string) {
    super(`the name could not be resolved (${code})`);
    this.code = code;
  }
}

/** The host was reached, and then there was no TLS with it. */
export class TlsUnfinishedError extends Error {
  readonly code: string;

  constructor(cause: Error) {
    super("TLS was not finished", { cause });
    const code = "code" in cause ? String(cause.code) : "";
    this.code = code === "UND_ERR_CONNECT_TIMEOUT" ? "ERR_TLS_HANDSHAKE_TIMEOUT" : code;
  }
}

export interface ReceiverAgentOptions {
  /** host:port of resolvers instead of the system's. */
  readonly dnsServers?: readonly string[];
  /** For a machine of one's own: receivers on it, which are then not public. */
  readonly allowLoopback: boolean;
  /** To one origin; receivers may share one. */
  readonly connectionsMax: number;
  /** For a name, all resolvers and tries together; 5 s unless set. */
  readonly resolveMsMax?: number;
}

/**
 * Connections to receivers, kept alive and shared, and only to public addresses: a literal is looked at before anything is
 * done, every address a name resolves to before one is dialled, and the one that was reached once more.
 */
export class ReceiverAgent {
  readonly #keptAlive: Dispatcher;
  /** Each request on a connection of its own. */
  readonly #fresh: Dispatcher;
  readonly #kept = new KeptConnections();
  readonly #allowLoopback: boolean;
  readonly #resolver: Resolver;
  readonly #resolveMsMax: number;

  constructor({ dnsServers, allowLoopback, connectionsMax, resolveMsMax = RESOLVE_MS_MAX }: ReceiverAgentOptions) {
    this.#resolveMsMax = resolveMsMax;
    this.#allowLoopback = allowLoopback;
    // Not dns.lookup: that has four threads for the whole process, and one dead resolver takes them all.
    this.#resolver = new Resolver({ timeout: RESOLVE_MS, tries: RESOLVE_TRIES });
    if (dnsServers !== undefined && dnsServers.length > 0) this.#resolver.setServers(dnsServers);
    const connect = buildConnector({
      timeout: CONNECT_MS,
      allowH2: false,
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: ADDRESS_MS,
      lookup: this.#lookup,
    });
    const options: Agent.Options = {
      connections: connectionsMax,
      // The attempt has one deadline over everything; these would start anew with every byte.
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: (target, callback) => {
        let reached = false;
        const begun = connect(target, (...[error, socket]) => {
          if (error !== null) return callback(reached ? new TlsUnfinishedError(error) : error, null);
          if (this.#mayReach(socket.remoteAddress ?? "")) {
            this.#kept.watch(socket);
            return callback(null, socket);
          }
          socket.destroy();
          return callback(new ForbiddenAddressError("the connection leads to an address that is not public"), null);
        });
        // Of a TLS socket: TCP is there, TLS is not yet.
        (begun as unknown as Socket).once("connect", () => void (reached = target.protocol === "https:"));
      },
    };
    this.#keptAlive = new Agent({ ...options, pipelining: 1, keepAliveTimeout: KEEP_ALIVE_MS, keepAliveMaxTimeout: KEEP_ALIVE_MS });
    this.#fresh = new Agent({ ...options, pipelining: 0 });
  }

  /**
   * Sends a request, on a connection that was kept if there is one. If the receiver closes that one just then, before any byte of an
   * answer, sends it once more on a new connection: else 5 attempts of 60 failed to a server that closes after 100 ms.
   */
  async request(request: Dispatcher.RequestOptions): Promise<Dispatcher.ResponseData> {
    try {
      return await this.#keptAlive.request(request);
    } catch (error) {
      if (!this.#kept.wasClosedInUse(error)) throw error;
      return this.#fresh.request(request);
    }
  }

  /** @throws ForbiddenAddressError if the URL names an address that is not public: a connector is not asked about those */
  requireAllowed(url: URL): void {
    const host = url.hostname.replace(/^\[(.*)\]$/, "$1").replace(/\.$/, "");
    if (isIP(host) !== 0 && !this.#mayReach(host)) throw new ForbiddenAddressError("the URL names an address that is not public");
  }

  #mayReach(address: string): boolean {
    return isPublicAddress(address) || (this.#allowLoopback && isLoopbackHost(address === "::1" ? "[::1]" : address));
  }

  readonly #lookup: LookupFunction = (hostname, options, callback) => {
    this.#resolve(hostname).then(
      (addresses) => {
        if (options.all === true) return callback(null, addresses);
        const [first] = addresses;
        return callback(null, first?.address ?? "", first?.family);
      },
      (error: NodeJS.ErrnoException) => callback(error, "", 0),
    );
  };

  /** One that is not public spoils them all: whoever gave it would give it next time. */
  async #resolve(hostname: string): Promise<Address[]> {
    const addresses = this.#allowLoopback && isLoopbackHost(hostname) ? LOOPBACK : await this.#ask(hostname);
    if (!addresses.every(({ address }) => this.#mayReach(address))) {
      throw new ForbiddenAddressError("the name resolves to an address that is not public");
    }
    return addresses;
  }

  async #ask(hostname: string): Promise<Address[]> {
    const v4 = settled(this.#resolver.resolve4(hostname), 4, this.#resolveMsMax);
    const v6 = settled(this.#resolver.resolve6(hostname), 6, this.#resolveMsMax);
    const first = await v4;
    const second = await (first.addresses.length > 0 ? orNoAnswer(v6, SECOND_FAMILY_MS) : v6);
    const addresses = [...first.addresses, ...second.addresses];
    if (addresses.length === 0) throw new UnresolvedNameError(first.code);
    return addresses;
  }

  async stop(): Promise<void> {
    await Promise.all([this.#keptAlive.destroy(), this.#fresh.destroy()]);
    this.#kept.stop();
    this.#resolver.cancel();
  }
}

interface Address {
  readonly address: string;
  readonly family: 4 | 6;
}

/** What a resolver said of one family: addresses, or why there are none. */
interface Resolved {
  readonly addresses: readonly Address[];
  readonly code: string;
}

const NO_ANSWER: Resolved = { addresses: [], code: "ETIMEOUT" };

const settled = (answer: Promise<string[]>, family: 4 | 6, timeoutMs: number): Promise<Resolved> =>
  orNoAnswer(
    answer.then(
      (addresses) => ({ addresses: addresses.map((address) => ({ address, family })), code: "ENODATA" }),
      (reason: unknown) => ({ addresses: [], code: codeOf(reason) }),
    ),
    timeoutMs,
  );

async function orNoAnswer(resolved: Promise<Resolved>, timeoutMs: number): Promise<Resolved> {
  const result = await withTimeout(resolved, timeoutMs);
  return result === TIMED_OUT ? NO_ANSWER : result;
}

const LOOPBACK = [
  { address: "127.0.0.1", family: 4 as const },
  { address: "::1", family: 6 as const },
];

const codeOf = (reason: unknown): string => (reason instanceof Error && "code" in reason ? String(reason.code) : "unknown");
