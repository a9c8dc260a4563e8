interface RedisHost {
  readonly host: string;
  readonly port: number;
}

/** A parsed REDIS_URL. */
export interface RedisAddress {
  /** Whether it is a Redis Cluster, with `hosts` some of its nodes. Otherwise `hosts` has one entry. */
  readonly isCluster: boolean;
  readonly tls: boolean;
  readonly hosts: readonly [RedisHost, ...RedisHost[]];
  readonly username?: string;
  readonly password?: string;
}

const URL_FORM = /^(rediss?)(\+cluster)?:\/\/(?:([^/?#]*)@)?([^/?#@]+)([/?#].*)?$/;
const PORT_DEFAULT = 6_379;

/**
 * Parses `redis://[user:password@]host[:port][/database]`, or `redis+cluster://[user:password@]host[:port],host[:port]…` for a Redis
 * Cluster; `rediss` is TLS. Several hosts mean a cluster, whatever the scheme. User and password are percent-encoded.
 *
 * @throws Error whose message says what is wrong without the URL, which may contain a password
 */
export function parseRedisUrl(url: string): RedisAddress {
  const [, scheme, cluster, credentials, hostList = "", rest = ""] = URL_FORM.exec(url) ?? [];
  if (scheme === undefined) throw new Error("must be redis://host:port, or redis+cluster://host:port,host:port (rediss for TLS)");
  const [first, ...others] = hostList.split(",").map(parseHost);
  if (first === undefined) throw new Error("has no host");
  const isCluster = cluster !== undefined || others.length > 0;
  if (isCluster && !/^(\/0?)?$/.test(rest)) throw new Error("must end after the hosts: a Redis Cluster has one database and no options");
  return { isCluster, tls: scheme === "rediss", hosts: [first, ...others], ...parseCredentials(credentials) };
}

function parseHost(text: string): RedisHost {
  try {
    const { hostname, port } = new URL(`redis://${text}`);
    if (hostname === "") throw new Error("no host");
    return { host: hostname.replace(/^\[|\]$/g, ""), port: port === "" ? PORT_DEFAULT : Number(port) };
  } catch {
    // The error of URL contains its input.
    throw new Error("has an invalid host: use host:port, comma-separated");
  }
}

function parseCredentials(text: string | undefined): { username?: string; password?: string } {
  if (text === undefined) return {};
  const colon = text.indexOf(":");
  const [username, password] = colon === -1 ? [text, ""] : [text.slice(0, colon), text.slice(colon + 1)];
  return { ...(username !== "" && { username: decode(username) }), ...(password !== "" && { password: decode(password) }) };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new Error("has a user or password with invalid percent-encoding");
  }
}
