import { Resolver } from "node:dns/promises";
import { isIP } from "node:net";
import { TIMED_OUT, withTimeout } from "@brand-records/lifecycle";
import { isLoopbackHost, isPublicAddress } from "../domain/forbidden-addresses.ts";

const RESOLVE_MS = 1_500;
const RESOLVE_TRIES = 2;
const RESOLVE_MS_MAX = 5_000;
/** Wait for IPv6 addresses once IPv4 addresses are there: some resolvers never respond for IPv6. */
const SECOND_FAMILY_MS = 300;

/** The URL, or a name in it, leads to an address that is not public. */
export class ForbiddenAddressError extends Error {
  readonly code = "FORBIDDEN_ADDRESS";
}

export class UnresolvedNameError extends Error {
  readonly code: string;

  constructor(code: string) {
    super(`the name could not be resolved (${code})`);
    this.code = code;
  }
}

export interface PublicAddressesOptions {
  /** host:port of DNS resolvers. Default: the system's. */
  readonly dnsServers?: readonly string[];
  /** Allows this machine. For development only. */
  readonly allowLoopback: boolean;
  readonly resolveMsMax?: number;
}

/** Resolves names, and refuses every address that is not public. */
export class PublicAddresses {
  readonly #allowLoopback: boolean;
  readonly #resolver: Resolver;
  readonly #resolveMsMax: number;

  constructor({ dnsServers, allowLoopback, resolveMsMax = RESOLVE_MS_MAX }: PublicAddressesOptions) {
    this.#resolveMsMax = resolveMsMax;
    this.#allowLoopback = allowLoopback;
    // dns.lookup has four threads for the whole process, and one dead resolver occupies them all.
    this.#resolver = new Resolver({ timeout: RESOLVE_MS, tries: RESOLVE_TRIES });
    if (dnsServers !== undefined && dnsServers.length > 0) this.#resolver.setServers(dnsServers);
  }

  mayReach(address: string): boolean {
    return isPublicAddress(address) || (this.#allowLoopback && isLoopbackHost(address === "::1" ? "[::1]" : address));
  }

  /**
   * @param hostname as `URL` returns it
   * @throws ForbiddenAddressError if it is an address that is not public, or a name of this machine: neither needs a resolver
   */
  requireAllowed(hostname: string): void {
    const host = addressIn(hostname);
    const isAllowed = isIP(host) !== 0 ? this.mayReach(host) : this.#allowLoopback || !isLoopbackHost(hostname);
    if (!isAllowed) throw new ForbiddenAddressError("the URL names an address that is not public");
  }

  /** One address that is not public forbids the name: its resolver could return it again next time. */
  async resolve(hostname: string): Promise<Address[]> {
    const addresses = this.#allowLoopback && isLoopbackHost(hostname) ? LOOPBACK : await this.#query(hostname);
    if (!addresses.every(({ address }) => this.mayReach(address))) {
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

  stop(): void {
    this.#resolver.cancel();
  }
}

/** A literal without brackets and the root's dot; a name without that dot. */
export const addressIn = (hostname: string): string => hostname.replace(/^\[(.*)\]$/, "$1").replace(/\.$/, "");

export interface Address {
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
