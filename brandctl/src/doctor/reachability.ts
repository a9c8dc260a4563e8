import { connect } from "node:net";
import { errorReason } from "@brand-records/command-line";

const CONNECT_MS = 2_000;

/** Where a process listens. */
export interface HostAndPort {
  /** A name, or an address without brackets. */
  readonly host: string;
  readonly port: number;
}

/** Nothing answers at an address: neither a process nor a refusal. */
export class Unreachable extends Error {
  override readonly name = "Unreachable";
}

/**
 * Connects and closes the connection at once: the system of a frozen or overloaded process still accepts connections, while a policy, a
 * firewall or a host that is away swallow them.
 *
 * @throws Unreachable after two seconds, the error of the system if the connection is refused, the reason of `signal` if it aborts
 */
export async function requireConnection({ host, port }: HostAndPort, signal: AbortSignal, connectMs = CONNECT_MS): Promise<void> {
  signal.throwIfAborted();
  const socket = connect({ host, port });
  try {
    await new Promise<void>((resolve, reject) => {
      socket.once("connect", resolve).once("error", reject);
      socket.setTimeout(connectMs, () => reject(new Unreachable(noConnectionAfter(connectMs))));
      signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
    });
  } finally {
    socket.destroy();
  }
}

const noConnectionAfter = (milliseconds: number): string =>
  `no connection within ${milliseconds / 1_000} s, and no refusal: does a NetworkPolicy or a firewall close this port, and is the host there`;

/** What is known of a process that accepted a connection. */
export const silenceAfter = (milliseconds: number): string =>
  `it accepts connections, and did not respond within ${milliseconds / 1_000} s: it is slow or frozen, not away`;

/** Reads `host:port` and `dns:///host:port`; undefined for targets of several addresses or with a name server of their own. */
export function hostAndPortOf(target: string): HostAndPort | undefined {
  const [, v6, name, port] = /^(?:dns:\/\/\/)?(?:\[([\da-fA-F:.]+)\]|([\w.-]+)):(\d+)$/.exec(target) ?? [];
  const host = v6 ?? name;
  return host === undefined ? undefined : { host, port: Number(port) };
}

const RESPONSE_MS = 5_000;

export type Fetched = { readonly status: number; readonly body: string } | { readonly failure: string };

/**
 * Reads an HTTP address. A failure is returned as text, not thrown; only an interruption throws.
 *
 * @param responseMs time for the response, in milliseconds. Default: 5,000. A connection that cannot be made fails sooner
 */
export async function fetchText(url: string, interrupted: AbortSignal, responseMs = RESPONSE_MS): Promise<Fetched> {
  try {
    const signal = AbortSignal.any([interrupted, AbortSignal.timeout(responseMs)]);
    const { hostname, port, protocol } = new URL(url);
    await requireConnection({ host: hostname.replace(/^\[|\]$/g, ""), port: Number(port || (protocol === "https:" ? 443 : 80)) }, signal);
    const response = await fetch(url, { signal, redirect: "error" });
    return { status: response.status, body: await response.text() };
  } catch (error) {
    interrupted.throwIfAborted();
    return { failure: reasonOf(error, responseMs) };
  }
}

/** fetch puts the reason into the cause. */
function reasonOf(error: unknown, responseMs: number): string {
  if ((error as { readonly name?: unknown }).name === "TimeoutError") return silenceAfter(responseMs);
  return errorReason(error instanceof Error ? (error.cause ?? error) : error);
}
