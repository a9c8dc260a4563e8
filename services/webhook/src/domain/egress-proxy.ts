/** The proxy that deliveries pass, as EGRESS_PROXY_URL names it. */
export interface EgressProxyAddress {
  readonly host: string;
  readonly port: number;
  /** The value of Proxy-Authorization; undefined without a user in the URL. A secret. */
  readonly authorization: string | undefined;
}

/**
 * `address`: names are resolved and checked here, and the proxy gets an address. `name`: the proxy gets the name, resolves it, and alone
 * keeps deliveries from addresses that are not public.
 */
export const EGRESS_PROXY_MODES = ["address", "name"] as const;
export type EgressProxyMode = (typeof EGRESS_PROXY_MODES)[number];

const PORT_DEFAULT = 80;
const FORM = "must be http://[user:password@]host:port";

/**
 * Parses `http://[user:password@]host[:port]`; user and password are percent-encoded.
 *
 * @throws Error whose message says what is wrong without the URL, which may contain a password
 */
export function parseEgressProxy(text: string): EgressProxyAddress {
  const url = URL.parse(text);
  if (url === null || url.protocol !== "http:" || url.hostname === "") throw new Error(FORM);
  if (!/^https?:\/\/[^/?#]*\/?$/i.test(text)) throw new Error(`${FORM}, without path, query or fragment`);
  const port = url.port === "" ? PORT_DEFAULT : Number(url.port);
  if (port === 0) throw new Error(FORM);
  return { host: url.hostname.replace(/^\[(.*)\]$/, "$1"), port, authorization: authorizationOf(url) };
}

function authorizationOf({ username, password }: URL): string | undefined {
  if (username === "" && password === "") return undefined;
  let [user, secret] = ["", ""];
  try {
    [user, secret] = [decodeURIComponent(username), decodeURIComponent(password)];
  } catch {
    // The error of decodeURIComponent says less.
    throw new Error("has a user or password with invalid percent-encoding");
  }
  // RFC 7617: the first colon ends the user.
  if (user.includes(":")) throw new Error("has a colon in its user");
  return `Basic ${Buffer.from(`${user}:${secret}`).toString("base64")}`;
}
