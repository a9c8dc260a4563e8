/** A year: browsers forget it no sooner than people come back. */
const SECONDS = 31_536_000;

/**
 * Returns the headers by which browsers call an origin over https only, from the first response on; none for an http origin. Without
 * `includeSubDomains` and `preload`, which would bind the operator's other hosts. Not for localhost, whose ports other programs serve over
 * http: the header is about every port of a host.
 *
 * @see https://www.rfc-editor.org/rfc/rfc6797
 */
export function httpsOnly(publicUrl: string): Readonly<Record<string, string>> {
  const { protocol, hostname } = new URL(publicUrl);
  if (protocol !== "https:" || hostname === "localhost" || hostname.endsWith(".localhost")) return {};
  return { "Strict-Transport-Security": `max-age=${SECONDS}` };
}
