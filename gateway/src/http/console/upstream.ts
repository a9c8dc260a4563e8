import { isIP, type Socket } from "node:net";
import { serverCheck, type Certificates } from "@brand-records/rpc";
import { buildConnector, errors, Pool, type Dispatcher } from "undici";

/** Connections to the console, each with one request at a time. */
export const CONNECTIONS_MAX = 256;
const CONNECT_MS = 5_000;
/** The console closes idle connections after 65 s: with an earlier end here, no request meets a closing connection. */
const IDLE_MS = 30_000;
/** Time without a byte from the console after which a request fails. The console's own deadline is shorter by default. */
const SILENCE_MS = 20_000;
/** The largest response is a script of 420 KB. */
const RESPONSE_BYTES_MAX = 8 * 1024 * 1024;

export interface ConsoleResponse extends Pick<Dispatcher.ResponseData, "statusCode" | "headers"> {
  readonly body: Buffer;
}

export interface ConsoleRequest {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  readonly headers: Record<string, string>;
  /** Whole, so that its length is known before the first byte is sent. */
  readonly body: Buffer | undefined;
  readonly signal: AbortSignal;
}

/**
 * The gateway's connections to the console. undici frames each message: a body with its length, no body without one, whatever the method.
 * A connection whose response came before its request was sent is not used again.
 */
export class ConsoleUpstream {
  readonly #address: URL;
  readonly #certificates: Certificates | undefined;
  #pool: Pool;
  /** Opens a connection for each request. */
  #fresh: Pool;
  /** The sockets of errors, which undici passes on as they are. */
  readonly #sockets = new WeakMap<Error, Socket>();

  /**
   * @param address host:port
   * @param certificates for HTTPS, in which both sides authenticate each other. Without them plain HTTP
   */
  constructor(address: string, certificates: Certificates | undefined) {
    this.#address = new URL(`${certificates === undefined ? "http" : "https"}://${address}`);
    this.#certificates = certificates;
    this.#pool = this.#open();
    this.#fresh = this.#open();
    certificates?.listen({
      onReplaced: () => {
        const replaced = [this.#pool, this.#fresh];
        this.#pool = this.#open();
        this.#fresh = this.#open();
        // Ends its connections once their requests are served.
        for (const pool of replaced) void pool.close();
      },
    });
  }

  /**
   * Returns a whole response: a client that reads it slowly occupies no connection. Repeats a read once if it met the end of a kept
   * connection, as when the console stops. Not under `/auth`, where a GET uses up a code.
   */
  async request(request: ConsoleRequest): Promise<ConsoleResponse> {
    const { method, path, signal } = request;
    const mayRepeat = (method === "GET" || method === "HEAD") && !path.startsWith("/auth");
    let response: Dispatcher.ResponseData;
    try {
      response = await this.#send(request);
    } catch (error) {
      if (!mayRepeat || signal.aborted || !this.#wasKept(error)) throw error;
      response = await this.#send(request);
    }
    return wholeOf(response);
  }

  /** Sends a request on a new connection, which a balancer may give to another process. */
  async requestElsewhere(request: ConsoleRequest): Promise<ConsoleResponse> {
    return wholeOf(await this.#send({ ...request, reset: true }, this.#fresh));
  }

  async stop(): Promise<void> {
    await Promise.all([this.#pool.destroy(), this.#fresh.destroy()]);
  }

  #send({ body, ...request }: ConsoleRequest & { readonly reset?: boolean }, pool = this.#pool): Promise<Dispatcher.ResponseData> {
    // Without a name, undici gives TLS that of the request's Host header, and opens a connection for each. Its types lack the option.
    const options: Dispatcher.RequestOptions & { servername: string } = {
      ...request,
      body: body ?? null,
      servername: this.#address.hostname,
    };
    return pool.request(options);
  }

  #open(): Pool {
    const certificates = this.#certificates;
    // A resumed session would skip the check of the certificate.
    const tls = certificates && {
      ...certificates.current,
      checkServerIdentity: serverCheck(certificates, "console"),
      maxCachedSessions: 0,
    };
    const connect = buildConnector({ timeout: CONNECT_MS, allowH2: false, ...tls });
    const isAddress = isIP(this.#address.hostname.replaceAll(/^\[|\]$/g, "")) !== 0;
    return new Pool(this.#address, {
      connections: CONNECTIONS_MAX,
      pipelining: 1,
      keepAliveTimeout: IDLE_MS,
      keepAliveMaxTimeout: IDLE_MS,
      headersTimeout: SILENCE_MS,
      bodyTimeout: SILENCE_MS,
      maxResponseSize: RESPONSE_BYTES_MAX,
      // TLS knows no names that are addresses.
      connect: ({ servername, ...target }, callback) =>
        connect(isAddress || servername === undefined ? target : { ...target, servername }, (...[error, socket]) => {
          if (error !== null) return callback(error, null);
          socket.on("error", (failure) => this.#sockets.set(failure, socket));
          return callback(null, socket);
        }),
    });
  }

  /** Whether the connection of this error had served a request before. */
  #wasKept(error: unknown): boolean {
    if (error instanceof errors.SocketError) return (error.socket?.bytesRead ?? 0) > 0;
    return error instanceof Error && (this.#sockets.get(error)?.bytesRead ?? 0) > 0;
  }
}

const wholeOf = async ({ statusCode, headers, body }: Dispatcher.ResponseData): Promise<ConsoleResponse> => ({
  statusCode,
  headers,
  body: Buffer.from(await body.arrayBuffer()),
});

/** Whether the console was silent for too long. */
export const isSilence = (error: unknown): boolean =>
  error instanceof errors.HeadersTimeoutError || error instanceof errors.BodyTimeoutError;
