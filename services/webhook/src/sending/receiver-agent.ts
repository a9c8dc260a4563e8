import { Resolver } from "node:dns/promises";
import { isIP, type LookupFunction, type Socket } from "node:net";
import { TIMED_OUT, withTimeout } from "@brand-records/lifecycle";
import { Agent, buildConnector, type Dispatcher } from "undici";
import { isLoopbackHost, isPublicAddress } from "../domain/forbidden-addresses.ts";
import { KeptConnections } from "./kept-connections.ts";

/** A whole attempt has 15 s: a connection that takes longer than this leaves too little of it. */
const CONNECT_MS = 10_000;
/** For each of several addresses. Node's 250 ms are less than a round trip between continents. */
const ADDRESS_MS = 2_500;
const RESOLVE_MS = 1_500;
const RESOLVE_TRIES = 2;
const RESOLVE_MS_MAX = 5_000;
/** Wait for IPv6 addresses once IPv4 addresses are there: some resolvers never respond for IPv6. */
const SECOND_FAMILY_MS = 300;
/** Longer than undici's 4 s, so that an event every ten seconds keeps its connection. A server's shorter Keep-Alive header wins. */
const KEEP_ALIVE_MS = 30_000;

/** The URL, or a name in it, leads to an address that is not public. */
class ForbiddenAddressError extends Error {
  readonly code = "FORBIDDEN_ADDRESS";
}

/** The name cannot be resolved now. */
export class UnresolvedNameError extends Error {
  readonly code: string;

  constructor(code: string) {
    super(`the name could not be resolved (${code})`);
    this.code = code;
  }
}

/** The host was reached, but TLS was not established. */
class TlsUnfinishedError extends Error {
  readonly code: string;

  constructor(cause: Error) {
    super("TLS was not established", { cause });
    const code = "code" in cause ? String(cause.code) : "";
    this.code = code === "UND_ERR_CONNECT_TIMEOUT" ? "ERR_TLS_HANDSHAKE_TIMEOUT" : code;
  }
}

export interface ReceiverAgentOptions {
  /** host:port of DNS resolvers. Default: the system's. */
  readonly dnsServers?: readonly string[];
  /** For development only: allows receivers on this machine. */
  readonly allowLoopback: boolean;
  /** Connections to one origin; several receivers may share it. */
  readonly connectionsMax: number;
  /** For one name, over all resolvers and tries. Default: 5,000. */
  readonly resolveMsMax?: number;
}

/**
 * Keeps and shares connections to receivers, to public addresses only. It checks an address literal before the request,
 * every address of a name before dialling one, and the connected address once more.
 */
export class ReceiverAgent {
  readonly #keptAlive: Dispatcher;
  /** Opens a new connection for each request. */
  readonly #fresh: Dispatcher;
  readonly #kept = new KeptConnections();
  readonly #allowLoopback: boolean;
  readonly #resolver: Resolver;
  readonly #resolveMsMax: number;

  constructor({ dnsServers, allowLoopback, connectionsMax, resolveMsMax = RESOLVE_MS_MAX }: ReceiverAgentOptions) {
    this.#resolveMsMax = resolveMsMax;
    this.#allowLoopback = allowLoopback;
    // Not dns.lookup: it has four threads for the whole process, and one dead resolver occupies them all.
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
      // The attempt has one deadline over everything. These time-outs would restart with every byte.
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: (target, callback) => {
        let reached = false;
        const connecting = connect(target, (...[error, socket]) => {
          if (error !== null) return callback(reached ? new TlsUnfinishedError(error) : error, null);
          if (this.#mayReach(socket.remoteAddress ?? "")) {
            this.#kept.watch(socket);
            return callback(null, socket);
          }
          socket.destroy();
          return callback(new ForbiddenAddressError("the connection leads to an address that is not public"), null);
        });
        // A TLS socket emits `connect` once TCP is connected, before TLS is.
        (connecting as unknown as Socket).once("connect", () => void (reached = target.protocol === "https:"));
      },
    };
    this.#keptAlive = new Agent({ ...options, pipelining: 1, keepAliveTimeout: KEEP_ALIVE_MS, keepAliveMaxTimeout: KEEP_ALIVE_MS });
    this.#fresh = new Agent({ ...options, pipelining: 0 });
  }

  /**
   * Sends a request, on a kept-alive connection if there is one. If the receiver closes that connection before any byte of a
   * response, sends it once more on a new one. Without this, 5 attempts of 60 failed to a server that closes after 100 ms.
   */
  async request(request: Dispatcher.RequestOptions): Promise<Dispatcher.ResponseData> {
    try {
      return await this.#keptAlive.request(request);
    } catch (error) {
      if (!this.#kept.wasClosedInUse(error)) throw error;
      return this.#fresh.request(request);
    }
  }

  /** @throws ForbiddenAddressError if the URL names an address that is not public: `lookup` is not called for literals */
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

  /** One address that is not public forbids the name: its resolver could return it again next time. */
  async #resolve(hostname: string): Promise<Address[]> {
    const addresses = this.#allowLoopback && isLoopbackHost(hostname) ? LOOPBACK : await this.#query(hostname);
    if (!addresses.every(({ address }) => this.#mayReach(address))) {
      throw new ForbiddenAddressError("the name resolves to an address that is not public");
    }
    return addresses;
  }

  async #query(hostname: string): Promise<Address[]> {
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

/** The addresses of one family, or the code of the reason why there are none. */
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
