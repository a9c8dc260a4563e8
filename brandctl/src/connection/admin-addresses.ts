import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import { TIMED_OUT, withTimeout } from "@brand-records/lifecycle";
import { CommandFailure, UsageFailure } from "../failure.ts";
import { SERVICE_NAMES, type RunFile } from "./endpoints.ts";

/** Every kind of process. Each has an admin port with probes and metrics. */
export const PROCESS_NAMES = ["gateway", "console", ...SERVICE_NAMES] as const;
export type ProcessName = (typeof PROCESS_NAMES)[number];

export interface AdminAddress {
  /** `http://host:port`, without a trailing slash. */
  readonly origin: string;
  /** Source of the address: a flag, a setting or a file. */
  readonly from: string;
}

export const ADMIN_FLAG = "--admin";

/** Such as `RECORDS_ADMIN`. */
export const adminSetting = (process: ProcessName): string => `${process.toUpperCase()}_ADMIN`;

export interface AdminSources {
  /** Such as `records=http://records:9090`, any number. */
  readonly flags: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly runFile: RunFile | undefined;
}

/**
 * Returns the admin addresses of each process, one for each replica. A flag wins over a setting, a setting over the run file.
 *
 * @throws UsageFailure for a malformed flag, CommandFailure `invalid_settings` for a malformed setting
 */
export function findAdminAddresses({ flags, env, runFile }: AdminSources): ReadonlyMap<ProcessName, readonly AdminAddress[]> {
  const flagged = flags.map(parseFlag);
  const find = (process: ProcessName): AdminAddress[] => {
    const given = flagged.filter(({ name }) => name === process);
    if (given.length > 0) return given.map(({ address }) => ({ origin: originOf(address, ADMIN_FLAG), from: ADMIN_FLAG }));
    const setting = adminSetting(process);
    const set = env[setting];
    if (set) return set.split(",").map((address) => ({ origin: originOf(address.trim(), setting), from: setting }));
    if (runFile === undefined) return [];
    // records-b is records in the cell b.
    const recorded = Object.entries(runFile.admin).filter(([name]) => name === process || name.startsWith(`${process}-`));
    return recorded.map(([, address]) => ({ origin: originOf(address, runFile.path), from: runFile.path }));
  };
  return new Map(PROCESS_NAMES.map((process) => [process, find(process)]));
}

function parseFlag(flag: string): { readonly name: ProcessName; readonly address: string } {
  const [, given, address = ""] = /^([a-z]+)=(.+)$/.exec(flag) ?? [];
  const name = PROCESS_NAMES.find((process) => process === given);
  if (name !== undefined) return { name, address };
  throw new UsageFailure(
    `${ADMIN_FLAG} ${flag} is not a process and its address.`,
    `It must be ${PROCESS_NAMES.join(", ")}, then = and its admin address, such as ${ADMIN_FLAG} records=http://records:9090.`,
  );
}

/** The scheme is optional. */
function originOf(address: string, from: string): string {
  const url = URL.parse(address.includes("://") ? address : `http://${address}`);
  if (url !== null && /^https?:$/.test(url.protocol) && url.pathname === "/" && url.search === "") return url.origin;
  const message = `${from}: ${address} is not an admin address.`;
  const hint = "It must be the origin of a process's admin port (ADMIN_HOST, ADMIN_PORT), such as http://records:9090.";
  throw from === ADMIN_FLAG ? new UsageFailure(message, hint) : new CommandFailure("invalid_settings", message, { hint });
}

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
