/**
 * Whether a URL's host is the machine itself: 127.0.0.0/8, `[::1]`, `localhost` and names below it. IPv4 written as IPv6 is
 * not: nobody types it, and it is the classic way around a check.
 *
 * @param hostname as `URL` tells it: numbers are dotted by then, and letters small
 */
export function isLoopbackHost(hostname: string): boolean {
  return /^127(\.\d{1,3}){3}\.?$/.test(hostname) || hostname === "[::1]" || /(^|\.)localhost\.?$/.test(hostname);
}
