import type { ErrorKind } from "@brand-records/errors";
import { isIP } from "node:net";
import { isLoopbackHost, isPublicAddress } from "./forbidden-addresses.ts";

/** Characters of a URL as it is written, and as it is stored. */
const URL_CHARACTERS_MAX = 2_048;

/** A problem of a URL. The message never repeats the URL: it may contain a token. */
export interface UrlProblem {
  readonly kind: ErrorKind & ("invalid_request" | "not_https" | "private_address" | "chat_webhook");
  readonly message: string;
}

/** What a receiver's URL may name in addition to a public host at port 443. */
export interface UrlRules {
  readonly ports: ReadonlySet<number>;
  /** Allows this machine, at any port, over http too. For development only. */
  readonly loopback?: boolean;
}

export type ReadUrl = { readonly href: string } | { readonly problems: readonly [UrlProblem, ...UrlProblem[]] };

const invalid = (message: string): UrlProblem => ({ kind: "invalid_request", message });

const NOT_HTTPS: UrlProblem = { kind: "not_https", message: "must begin with https://: events are delivered over TLS only" };

const PRIVATE: UrlProblem = {
  kind: "private_address",
  message:
    "must name a public host: this one is private, local or reserved, and deliveries come from outside your network. Use the public name of the server, or a tunnel to it",
};

const CHAT: UrlProblem = {
  kind: "chat_webhook",
  message:
    "is a team chat's incoming webhook, which accepts only the chat's own messages and would refuse our events. Register a relay of yours: it verifies the delivery, turns it into a short message and posts that to the chat",
};

const NO_URL = invalid("must be a whole URL, such as https://hooks.brand.example/events");

/**
 * Reads a receiver's URL and normalises it, so that the stored URL is the one that is dialled, and two spellings of one URL
 * are equal. Names that are not obviously private are checked again when they are resolved.
 *
 * @returns the normalised URL, or every problem, the most important first
 */
export function readReceiverUrl(typed: string, rules: UrlRules): ReadUrl {
  // What is copied brings the spaces around it along.
  const text = typed.trim();
  if (text.length > URL_CHARACTERS_MAX) return { problems: [invalid(`must be at most ${URL_CHARACTERS_MAX} characters`)] };
  // The parser would drop some of these characters silently.
  if (!text.isWellFormed() || /[\s\p{Cc}]/u.test(text)) return { problems: [invalid("must not contain spaces or control characters")] };
  const url = URL.parse(text);
  if (url === null) return { problems: [/^[a-z]+:\/*\[[^\]]*%/i.test(text) ? PRIVATE : NO_URL] };
  normalise(url);
  const [first, ...more] = problemsOf(url, text, rules);
  return first === undefined ? { href: url.href } : { problems: [first, ...more] };
}

function problemsOf(url: URL, text: string, { ports, loopback = false }: UrlRules): UrlProblem[] {
  const problems: UrlProblem[] = [];
  const isOwnMachine = loopback && isLoopbackHost(url.hostname) && /^https?:$/.test(url.protocol);
  if (isChatWebhook(url)) problems.push(CHAT);
  if (url.protocol !== "https:" && !isOwnMachine) problems.push(NOT_HTTPS);
  // A scheme that is not the web's: nothing after it can be checked.
  if (url.hostname === "") return problems;
  if (!isOwnMachine) problems.push(...problemsOfHost(url.hostname));
  if (url.username !== "" || url.password !== "") problems.push(invalid("must not contain a user name or password"));
  // An empty fragment looks like none in the parsed URL.
  if (text.includes("#")) problems.push(invalid("must not have a fragment (#…): it is never sent"));
  if (url.port !== "" && url.protocol === "https:" && !isOwnMachine && !ports.has(Number(url.port))) {
    problems.push(invalid(ports.size === 0 ? "must use port 443" : `must use one of the ports ${[443, ...ports].join(", ")}`));
  }
  if (url.href.length > URL_CHARACTERS_MAX) {
    problems.push(invalid(`must be at most ${URL_CHARACTERS_MAX} characters after encoding`));
  }
  return problems;
}

/** Names of private machines and networks, wherever they are looked up. */
const PRIVATE_SUFFIX = /\.(localhost|local|internal|lan|corp|home|home\.arpa)$/;

/** The parser has already turned `0x7f.1`, `2130706433` and `１２７.1` into `127.0.0.1`, and everything into lower case. */
function problemsOfHost(hostname: string): UrlProblem[] {
  const host = hostname.replace(/^\[(.*)\]$/, "$1").replace(/\.$/, "");
  if (isIP(host) !== 0) return isPublicAddress(host) ? [] : [PRIVATE];
  if (!isDomainName(host)) return [invalid("must name a host that can be looked up")];
  return !host.includes(".") || PRIVATE_SUFFIX.test(`.${host}`) ? [PRIVATE] : [];
}

const isDomainName = (host: string): boolean =>
  host.length <= 253 && host.split(".").every((label) => label.length >= 1 && label.length <= 63);

/**
 * Normalises a URL further than `URL` does: removes the dot that ends a host name, decodes escapes of unreserved characters in
 * path and query, and writes the other escapes in upper case (RFC 3986, 6.2.2).
 */
function normalise(url: URL): void {
  // One dot is the root's. Before another dot it is an empty label, which no name has.
  const host = url.hostname.replace(/(?<=[^.])\.$/, "");
  const path = normaliseEscapes(url.pathname);
  const query = normaliseEscapes(url.search);
  if (host !== url.hostname) url.hostname = host;
  if (path !== url.pathname) url.pathname = path;
  if (query !== url.search) url.search = query;
}

/**
 * An escape means the character itself only for letters, digits and `-._~`. `%2F` is not `/`. Segments of `%2E` are already
 * resolved: `URL` reads them as dots.
 */
function normaliseEscapes(text: string): string {
  // After a stray %, decoding could create a new escape: `%%36%35` would become `%65`.
  if (/%(?![0-9a-f]{2})/i.test(text)) return text;
  return text.replaceAll(/%([0-9a-f]{2})/gi, (escape, hex: string) => {
    const character = String.fromCodePoint(Number.parseInt(hex, 16));
    return /[\w.~-]/.test(character) ? character : escape.toUpperCase();
  });
}

/** Incoming webhooks of team chats. They accept only messages in the chat's own format. */
const CHATS: readonly { readonly host: RegExp; readonly path: RegExp }[] = [
  { host: /^hooks\.slack(-gov)?\.com$/, path: /^/ },
  { host: /^((www|ptb|canary)\.)?discord(app)?\.com$/, path: /^\/api\/(v\d+\/)?webhooks\// },
  { host: /(^|\.)webhook\.office\.com$/, path: /^/ },
  { host: /^outlook\.office(365)?\.com$/, path: /^\/webhook(\/|$)/ },
  // Teams' "Workflows", which replaced its connectors.
  { host: /\.logic\.azure\.com$/, path: /\/workflows\// },
  { host: /\.powerplatform\.com$/, path: /\/workflows\// },
  { host: /^chat\.googleapis\.com$/, path: /^\/v1\/spaces\// },
];

function isChatWebhook(url: URL): boolean {
  const host = url.hostname.replace(/\.$/, "");
  const path = decodePath(url.pathname);
  return CHATS.some((chat) => chat.host.test(host) && chat.path.test(path));
}

/** Returns a path as servers read it: `//` is `/`, and `%77` is `w`. */
function decodePath(path: string): string {
  let decoded = path;
  try {
    decoded = decodeURIComponent(path);
  } catch {
    // A path that is not UTF-8 is not a chat's: those are ASCII.
  }
  return decoded.replaceAll(/\/{2,}/g, "/").toLowerCase();
}
