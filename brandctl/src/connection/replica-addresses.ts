import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import { TIMED_OUT, withTimeout } from "@brand-records/lifecycle";
import type { AdminAddress } from "./admin-addresses.ts";

/** A slow DNS server must not keep the other checks waiting. */
const LOOKUP_MS = 2_000;

export interface FoundAddress {
  readonly address: string;
  readonly family: number;
}

export type LookUp = (host: string) => Promise<readonly FoundAddress[]>;

const lookUpAll: LookUp = (host) => lookup(host, { all: true });

/**
 * Returns one address for each replica behind a name: a headless Service of Kubernetes has the addresses of all, and a request to its
 * name reaches one of them. A name with one address, or with none, stays as it is.
 */
export async function replicaAddresses({ origin, from }: AdminAddress, lookUp: LookUp = lookUpAll): Promise<AdminAddress[]> {
  const { hostname, port, protocol } = new URL(origin);
  // A certificate is for the name.
  if (protocol === "https:" || isIP(hostname.replace(/^\[|\]$/g, "")) !== 0) return [{ origin, from }];
  const looked = await withTimeout(
    lookUp(hostname).catch(() => []),
    LOOKUP_MS,
  );
  const found = looked === TIMED_OUT ? [] : looked;
  // With IPv4 and IPv6 a replica has two.
  const same = found.filter(({ family }) => family === found[0]?.family);
  if (same.length < 2) return [{ origin, from }];
  const hosts = same.map(({ address, family }) => (family === 6 ? `[${address}]` : address)).toSorted();
  return hosts.map((host) => ({ origin: `http://${host}${port && `:${port}`}`, from }));
}
