import { randomBytes, randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { CryptoKey, JWK } from "jose";

const CLIENT_ID = "console";
/** Loaded when it is needed: most tests sign nothing. */
const jose = () => import("jose");

/** A sign-in at accounts, as the console sends it. */
type ProviderSignIn = ReturnType<typeof withToken>;

export interface TestKey {
  readonly kid: string;
  readonly privateKey: CryptoKey;
  readonly publicJwk: JWK;
}

/** A claim that is undefined is left out; times are seconds from now. */
export interface TestClaims {
  readonly iss?: string;
  readonly sub?: string;
  readonly aud?: string | readonly string[];
  readonly azp?: string;
  readonly nonce?: string | undefined;
  readonly iat?: number | undefined;
  readonly nbf?: number;
  readonly exp?: number | undefined;
  readonly email?: string | null | undefined;
  readonly email_verified?: boolean | string | null | undefined;
}

export async function newTestKey(kid: string = randomUUID()): Promise<TestKey> {
  const { exportJWK, generateKeyPair } = await jose();
  const { privateKey, publicKey } = await generateKeyPair("ES256", { extractable: true });
  return { kid, privateKey, publicJwk: { ...(await exportJWK(publicKey)), kid, alg: "ES256", use: "sig" } };
}

/** A small OpenID provider on loopback, with what accounts needs of one: discovery, keys and userinfo. It signs any claims. */
export class TestIssuer {
  readonly settings: { readonly OIDC_ISSUER: string; readonly OIDC_CLIENT_ID: string; readonly OIDC_TRUST_EMAIL: "false" };
  /** Paths that were requested, in order. */
  readonly requests: string[] = [];
  /** What userinfo says for an access token. */
  readonly userInfo = new Map<string, Readonly<Record<string, unknown>>>();
  /** Further members of the configuration, or other values; undefined leaves one out. */
  metadata: Readonly<Record<string, unknown>> = {};
  /** The one that signs, and the published ones. */
  key: TestKey;
  published: JWK[];
  #server: Server;
  readonly #port: number;

  private constructor(server: Server, key: TestKey) {
    this.#server = server;
    this.#port = (server.address() as AddressInfo).port;
    this.key = key;
    this.published = [key.publicJwk];
    this.settings = { OIDC_ISSUER: `http://127.0.0.1:${this.#port}`, OIDC_CLIENT_ID: CLIENT_ID, OIDC_TRUST_EMAIL: "false" };
    this.#serve();
  }

  static async start(): Promise<TestIssuer> {
    const [server, key] = [createServer(), await newTestKey()];
    await once(server.listen(0, "127.0.0.1"), "listening");
    return new TestIssuer(server, key);
  }

  get issuer(): string {
    return this.settings.OIDC_ISSUER;
  }

  /** Signs with a key that is published from now on in place of the one before. */
  async rotate(): Promise<void> {
    this.key = await newTestKey();
    this.published = [this.key.publicJwk];
  }

  /** The payload of an ID token; `changes` replace its claims. */
  claims({ iat = 0, exp = 300, nbf, ...changes }: TestClaims = {}): Record<string, unknown> {
    const now = Math.floor(Date.now() / 1_000);
    const claims = {
      iss: this.issuer,
      sub: randomUUID(),
      aud: CLIENT_ID,
      nonce: "nonce",
      email_verified: true,
      ...changes,
      iat: now + iat,
      exp: now + exp,
      ...(nbf !== undefined && { nbf: now + nbf }),
    };
    return Object.fromEntries(Object.entries(claims).filter(([, value]) => value !== undefined && value !== null));
  }

  async sign(claims: Readonly<Record<string, unknown>>, { privateKey, kid } = this.key): Promise<string> {
    const { SignJWT } = await jose();
    return new SignJWT(claims).setProtectedHeader({ alg: "ES256", kid }).sign(privateKey);
  }

  async request(changes: TestClaims = {}, accessToken?: string): Promise<ProviderSignIn> {
    // No two tokens are the same, also of one person in one second.
    const nonce = randomBytes(16).toString("base64url");
    return withToken(await this.sign(this.claims({ nonce, ...changes })), changes.nonce ?? nonce, accessToken);
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async startAgain(): Promise<void> {
    this.#server = createServer();
    this.#serve();
    await once(this.#server.listen(this.#port, "127.0.0.1"), "listening");
  }

  #serve(): void {
    this.#server.on("request", (request, response) => this.#answer(request, response));
  }

  #answer({ url = "", headers }: IncomingMessage, response: ServerResponse): void {
    this.requests.push(url);
    const json = (status: number, body: object) =>
      response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(body));
    if (url === "/.well-known/openid-configuration") json(200, this.#configuration());
    else if (url === "/keys") json(200, { keys: this.published });
    else if (url === "/userinfo") {
      const found = this.userInfo.get(headers.authorization?.replace("Bearer ", "") ?? "");
      if (found === undefined) response.writeHead(401, { "WWW-Authenticate": 'Bearer error="invalid_token"' }).end();
      else json(200, found);
    } else json(404, {});
  }

  #configuration(): Record<string, unknown> {
    return {
      issuer: this.issuer,
      jwks_uri: `${this.issuer}/keys`,
      userinfo_endpoint: `${this.issuer}/userinfo`,
      // A provider may list them: accounts takes no token that is signed so.
      id_token_signing_alg_values_supported: ["ES256", "HS256", "none"],
      ...this.metadata,
    };
  }
}

export const withToken = (id_token: string, nonce = "nonce", access_token?: string) => ({ id_token, nonce, access_token });
