/** What differs from run to run, and how much of it a recording shows. The first group stays. */
const VOLATILE: readonly (readonly [pattern: RegExp, replacement: string])[] = [
  [/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, "<time>"],
  [/^(Date: ).+$/gim, "$1<date>"],
  [/^(Last-Modified: ).+$/gim, "$1<date>"],
  [/^(ETag: ).+$/gim, "$1<etag>"],
  [/^((?:Retry-After|(?:X-)?RateLimit-Reset): )\d+/gim, "$1<seconds>"],
  [/^(RateLimit: "brand";r=\d+;t=)\d+/gim, "$1<seconds>"],
  [/(\bbrk_(?:live|test)_…)\w{4}\b/g, "$1<end>"],
  [/(127\.0\.0\.1|localhost):\d+/g, "$1:<port>"],
  // The instructions for assistants have the day of the week: their length varies.
  [/^(Content-Length: )\d+(?=[^]*\d\d:\d\d in Manila)/gim, "$1<bytes>"],
  [/\b\w{3,6}day \d{4}-\d\d-\d\d, \d\d:\d\d(?= in Manila)/g, "<day and time>"],
  // The gateway records its counts at its own times.
  [/^(Content-Length: )\d+(?=[^]*"usage":\{"from")/gim, "$1<bytes>"],
  [/("usage":\{"from":"[^"]+","buckets":\[)[^\]]*/g, "$1<counts>"],
  [/((?:__Host-)?session)(?:_\d+)?=[\w-]{20,}/g, "$1=<token>"],
  [/((?:__Host-)?session)_\d+=/g, "$1="],
  [/("?nonce[-=]"?)[\w+/=-]{16,}/g, "$1<nonce>"],
  // The bundler chooses the console's parts and their names; each edit of a screen may change both.
  [/^(Content-Length: )\d+(?=[^]*\/console\/assets\/[\w-]+\.js")/gim, "$1<bytes>"],
  [/(?:\n *<link rel="modulepreload".*)+/g, '\n    <link rel="modulepreload" …>'],
  [/(\/console\/assets\/[\w-]+?)-[\w-]{8}(?=\.(?:js|css|svg)")/g, "$1-<hash>"],
];

/** Random values that stay recognisable: the first of a kind is number 1 wherever it appears. */
const NUMBERED: readonly (readonly [pattern: RegExp, kind: string])[] = [
  [/\bbrk_(?:live|test)_\w{36}\b/g, "key"],
  [/\bwhsec_[\w+/=]{32,}/g, "secret"],
  [/(?<=sign-in#|"token":")[\w-]{20,}/g, "link"],
  [/\b[a-z]{3}_[0-9a-z]{26}\b/g, ""],
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\b/g, "uuid"],
];

/** Replaces what is volatile. Ids and times of `known`, which are the same in every run, stay. */
export class Masks {
  readonly #known: ReadonlySet<string>;
  readonly #numbers = new Map<string, string>();
  readonly #counts = new Map<string, number>();

  constructor(known: Iterable<string>) {
    this.#known = new Set(known);
  }

  apply(text: string): string {
    let masked = text;
    for (const [pattern, kind] of NUMBERED) masked = masked.replace(pattern, (found) => this.#numbered(found, kind || found.slice(0, 3)));
    for (const [pattern, replacement] of VOLATILE) {
      masked = masked.replace(pattern, (found, ...groups) =>
        this.#known.has(found) ? found : replacement.replace("$1", typeof groups[0] === "string" ? groups[0] : ""),
      );
    }
    return masked;
  }

  #numbered(found: string, kind: string): string {
    if (this.#known.has(found)) return found;
    let name = this.#numbers.get(found);
    if (name === undefined) {
      const count = (this.#counts.get(kind) ?? 0) + 1;
      this.#counts.set(kind, count);
      name = `<${kind} ${count}>`;
      this.#numbers.set(found, name);
    }
    return name;
  }
}
