import { BlockList, isIP } from "node:net";

/**
 * IANA's special-purpose registries, and 168.63.129.16: inside every Azure network it serves secrets of the calling machine.
 * Cloud metadata is within 169.254/16 and 100.64/10.
 */
const FORBIDDEN_V4 = [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "168.63.129.16/32",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/4",
  "240.0.0.0/4",
] as const;

/**
 * All routed IPv6. It excludes IPv4 addresses written as IPv6 (`::127.0.0.1`, `::ffff:127.0.0.1`, `64:ff9b::7f00:1`): a list
 * of forbidden ranges would miss some.
 */
const GLOBAL_V6 = ["2000::/3"] as const;
/** Ranges within it: IETF protocol assignments (with Teredo), documentation (twice), 6to4. */
const FORBIDDEN_V6 = ["2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"] as const;

const forbiddenV4 = listOf(FORBIDDEN_V4, "ipv4");
const globalV6 = listOf(GLOBAL_V6, "ipv6");
const forbiddenV6 = listOf(FORBIDDEN_V6, "ipv6");

function listOf(ranges: readonly string[], family: "ipv4" | "ipv6"): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [network = "", bits] = range.split("/");
    list.addSubnet(network, Number(bits), family);
  }
  return list;
}

/**
 * Whether deliveries may go to this address: only to public ones.
 *
 * @param ip as a resolver or a socket returns it, IPv6 without brackets. Anything else is not public, and neither is an
 *   address with a zone or IPv4 written as IPv6.
 */
export function isPublicAddress(ip: string): boolean {
  if (ip.includes("%")) return false;
  const family = isIP(ip);
  if (family === 4) return !forbiddenV4.check(ip, "ipv4");
  return family === 6 && globalV6.check(ip, "ipv6") && !forbiddenV6.check(ip, "ipv6");
}

/**
 * Whether a URL's host is this machine: 127.0.0.0/8, `[::1]`, `localhost` and names below it. IPv4 written as IPv6 is not:
 * it is not typed by hand, and it is the classic way around a check.
 *
 * @param hostname as `URL` returns it: dotted numbers and lower-case letters
 */
export function isLoopbackHost(hostname: string): boolean {
  return /^127(\.\d{1,3}){3}\.?$/.test(hostname) || hostname === "[::1]" || /(^|\.)localhost\.?$/.test(hostname);
}
