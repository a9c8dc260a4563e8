/**
 * Writes a URL in the plainest way of the many that mean the same: without the dot that ends a host's name, in path and query
 * without escapes of characters that need none, and with the others' hexadecimal digits in upper case (RFC 3986, 6.2.2).
 */
export function plainSpelling(url: URL): void {
  // One dot is the root's; before another it is an empty label, which no name has.
  const host = url.hostname.replace(/(?<=[^.])\.$/, "");
  const path = plainEscapes(url.pathname);
  const query = plainEscapes(url.search);
  if (host !== url.hostname) url.hostname = host;
  if (path !== url.pathname) url.pathname = path;
  if (query !== url.search) url.search = query;
}

/**
 * Of letters, digits and `-._~` alone an escape means what the character does. `%2F` is no `/`, and segments of `%2E` are
 * gone by now: `URL` takes them for the dots they are.
 */
function plainEscapes(text: string): string {
  // A % that escapes nothing may be followed by what would make it an escape: `%%36%35` would become `%65`.
  if (/%(?![0-9a-f]{2})/i.test(text)) return text;
  return text.replaceAll(/%([0-9a-f]{2})/gi, (escape, hex: string) => {
    const character = String.fromCodePoint(Number.parseInt(hex, 16));
    return /[\w.~-]/.test(character) ? character : escape.toUpperCase();
  });
}
