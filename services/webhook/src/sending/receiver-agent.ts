import { isIP, type LookupFunction, type Socket } from "node:net";
import { Agent, buildConnector, Pool, type Dispatcher } from "undici";
import type { EgressProxyAddress, EgressProxyMode } from "../domain/egress-proxy.ts";
import { ContinueResponses } from "./continue-responses.ts";
import { EgressProxy, TargetUnreachableError } from "./egress-proxy.ts";
import { KeptConnections } from "./kept-connections.ts";
import { addressIn, ForbiddenAddressError, PublicAddresses, type PublicAddressesOptions } from "./public-addresses.ts";
import { ReplyReader, type Reply } from "./reply.ts";

/** A whole attempt has 15 s: a connection that takes longer than this leaves too little of it. */
const CONNECT_MS = 10_000;
/** Time for each of several addresses. Node's 250 ms are less than a round trip between continents. */
const ADDRESS_MS = 2_500;
/** Longer than undici's 4 s, so that an event every ten seconds keeps its connection. A server's shorter Keep-Alive header wins. */
const KEEP_ALIVE_MS = 30_000;
/** Age at which a connection takes no further request. While events come, it would live for ever, and its name would never be asked again. */
const CONNECTION_MS_MAX = 60_000;

/** The host was reached, but TLS was not established. */
class TlsUnfinishedError extends Error {
  readonly code: string;

  constructor(cause: Error) {
    super("TLS was not established", { cause });
    const code = "code" in cause ? String(cause.code) : "";
    this.code = code === "UND_ERR_CONNECT_TIMEOUT" ? "ERR_TLS_HANDSHAKE_TIMEOUT" : code;
  }
}

/** The other end closed the connection before its address could be read, which says nothing about where it led. */
class EndedEarlyError extends Error {
  readonly code = "ECONNRESET";

  constructor() {
    super("the connection ended before it was used");
  }
}

export interface ReceiverAgentOptions extends PublicAddressesOptions {
  readonly connectionsMax: number;
  /** Age at which a connection takes no further request, in milliseconds. Default: 60,000. */
  readonly connectionMsMax?: number;
  /** Every connection goes through it. Default: none. */
  readonly proxy?: { readonly address: EgressProxyAddress; readonly mode: EgressProxyMode } | undefined;
  /** Time until the proxy has opened a connection. Default: 10,000. */
  readonly proxyMsMax?: number;
}

/**
 * Keeps and shares connections to receivers, to public addresses only. It checks an address literal before the request and
 * every address of a name before dialling one; without a proxy, the connected address once more.
 */
export class ReceiverAgent {
  readonly #keptAlive: Dispatcher;
  readonly #fresh: Dispatcher;
  readonly #kept = new KeptConnections();
  readonly #continues = new ContinueResponses();
  readonly #addresses: PublicAddresses;
  readonly #proxy: EgressProxy | undefined;

  constructor({ connectionsMax, connectionMsMax = CONNECTION_MS_MAX, proxy, proxyMsMax = CONNECT_MS, ...options }: ReceiverAgentOptions) {
    this.#addresses = new PublicAddresses(options);
    this.#proxy = proxy && new EgressProxy(proxy.address);
    const connect = proxy && this.#proxy ? this.#throughProxy(this.#proxy, proxy.mode, proxyMsMax) : this.#directly();
    const agentOptions: Agent.Options = {
      connections: connectionsMax,
      // The attempt has one deadline over everything. These time-outs would restart with every byte.
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: (target, callback) =>
        connect(target, (...[error, socket]) => {
          if (error !== null) return callback(error, null);
          this.#kept.watch(socket);
          this.#continues.watch(socket);
          return callback(null, socket);
        }),
    };
    this.#keptAlive = new Agent({
      ...agentOptions,
      pipelining: 1,
      keepAliveTimeout: KEEP_ALIVE_MS,
      keepAliveMaxTimeout: KEEP_ALIVE_MS,
      // Compared when a request is dispatched; one that is under way finishes. A pool also for one connection: a client alone ignores it.
      clientTtl: connectionMsMax,
      factory: (origin, poolOptions) => new Pool(origin, poolOptions),
    });
    this.#fresh = new Agent({ ...agentOptions, pipelining: 0 });
  }

  /**
   * Sends a request, on a kept-alive connection if there is one. If the receiver closes that connection before any byte of a
   * response, sends it once more on a new one. Without this, 5 attempts of 60 failed to a server that closes after 100 ms.
   *
   * @param deadlineMs time for everything. Never rejects
   */
  send(request: Dispatcher.DispatchOptions, deadlineMs: number): Promise<Reply> {
    return new Promise((resolve) => {
      const repeats = (error: Error): boolean => this.#kept.wasClosedInUse(error) && (this.#fresh.dispatch(request, reader), true);
      const reader = new ReplyReader(resolve, repeats, deadlineMs);
      this.#keptAlive.dispatch(request, reader);
    });
  }

  /** @throws ForbiddenAddressError if the URL names an address that is not public: `lookup` is not called for literals */
  requireAllowed(url: URL): void {
    this.#addresses.requireAllowed(url.hostname);
  }

  #directly(): buildConnector.connector {
    const connect = buildConnector({
      timeout: CONNECT_MS,
      allowH2: false,
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: ADDRESS_MS,
      lookup: this.#lookup,
    });
    return (target, callback) => {
      let reached = false;
      const connecting = connect(target, (...[error, socket]) => {
        if (error !== null) return callback(reached ? new TlsUnfinishedError(error) : error, null);
        const { remoteAddress } = socket;
        if (remoteAddress !== undefined && this.#addresses.mayReach(remoteAddress)) return callback(null, socket);
        socket.destroy();
        if (remoteAddress === undefined) return callback(new EndedEarlyError(), null);
        return callback(new ForbiddenAddressError("the connection leads to an address that is not public"), null);
      });
      // A TLS socket emits `connect` once TCP is connected, before TLS is.
      (connecting as unknown as Socket).once("connect", () => void (reached = target.protocol === "https:"));
    };
  }

  /** Replaces undici's ProxyAgent, which hands over names unchecked, and a refusal of its proxy looks like any closed connection. */
  #throughProxy(proxy: EgressProxy, mode: EgressProxyMode, timeoutMs: number): buildConnector.connector {
    const startTls = buildConnector({ timeout: CONNECT_MS, allowH2: false });
    return (target, callback) => {
      this.#openTunnel(proxy, mode, target, timeoutMs).then(
        (tunnel) => {
          if (target.protocol !== "https:") return callback(null, tunnel.setNoDelay(true));
          return startTls({ ...target, httpSocket: tunnel }, (...[error, socket]) => {
            if (error === null) return callback(null, socket);
            tunnel.destroy();
            return callback(new TlsUnfinishedError(error), null);
          });
        },
        (error: Error) => callback(error, null),
      );
    };
  }

  /** Tries each address of the target, in order, within one time. */
  async #openTunnel(proxy: EgressProxy, mode: EgressProxyMode, target: buildConnector.Options, timeoutMs: number): Promise<Socket> {
    const { hostname, protocol } = target;
    const port = target.port || (protocol === "https:" ? "443" : "80");
    const endsAt = performance.now() + timeoutMs;
    let unreachable: TargetUnreachableError | undefined;
    for (const host of await this.#hostsFor(hostname, mode)) {
      const left = endsAt - performance.now();
      if (unreachable !== undefined && left <= 0) break;
      try {
        return await proxy.open(`${host}:${port}`, left);
      } catch (error) {
        if (!(error instanceof TargetUnreachableError)) throw error;
        unreachable ??= error;
      }
    }
    throw unreachable ?? new TargetUnreachableError("NO_ADDRESS");
  }

  /** The hosts that the proxy is asked to connect to, one after the other. */
  async #hostsFor(hostname: string, mode: EgressProxyMode): Promise<readonly string[]> {
    this.#addresses.requireAllowed(hostname);
    const host = addressIn(hostname);
    if (mode === "name" || isIP(host) !== 0) return [inUrl(host)];
    return (await this.#addresses.resolve(hostname)).map(({ address }) => inUrl(address));
  }

  readonly #lookup: LookupFunction = (hostname, options, callback) => {
    this.#addresses.resolve(hostname).then(
      (addresses) => {
        if (options.all === true) return callback(null, addresses);
        const [first] = addresses;
        return callback(null, first?.address ?? "", first?.family);
      },
      (error: NodeJS.ErrnoException) => callback(error, "", 0),
    );
  };

  async stop(): Promise<void> {
    this.#proxy?.stop();
    await Promise.all([this.#keptAlive.destroy(), this.#fresh.destroy()]);
    this.#kept.stop();
    this.#continues.stop();
    this.#addresses.stop();
  }
}

const inUrl = (host: string): string => (isIP(host) === 6 ? `[${host}]` : host);
