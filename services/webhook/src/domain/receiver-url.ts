import type { ErrorKind } from "@brand-records/errors";
import { isIP } from "node:net";
import { isChatWebhook } from "./chat-webhooks.ts";
import { isPublicAddress } from "./forbidden-addresses.ts";
import { isLoopbackHost } from "./loopback.ts";
import { plainSpelling } from "./plain-spelling.ts";

/** Of the URL as it is written, and as it is kept. */
const URL_CHARACTERS_MAX = 2_048;

/** One thing that is wrong with a URL. The message never repeats it: it may carry a token. */
export interface UrlProblem {
  readonly kind: ErrorKind & ("invalid_request" | "not_https" | "private_address" | "chat_webhook");
  readonly message: string;
}

/** What a receiver's URL may name beside a public host at port 443. */
export interface UrlRules {
  /** Ports beside 443. */
  readonly ports: ReadonlySet<number>;
  /** For a machine of one's own only: this machine as well, at any port, over http too. */
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
    "is a team chat's incoming webhook, which takes messages of its own form and would refuse our events. Register a relay of yours: it verifies the delivery, makes a short message of it and posts that to the chat",
};

const NO_URL = invalid("must be a whole URL, such as https://hooks.brand.example/events");

/**
 * A receiver's URL as it will be called and is kept, normalised as `URL` does and in its plainest spelling: what a parser makes
 * of it now is what will be dialled, and two ways to write the same are the same. Names that are not obviously private are looked at again when they are resolved.
 *
 * @returns every problem if there is any, the one to be told first being first
 */
export function readReceiverUrl(text: string, rules: UrlRules): ReadUrl {
  if (text.length > URL_CHARACTERS_MAX) return { problems: [invalid(`must be at most ${URL_CHARACTERS_MAX} characters`)] };
  // The parser would drop some of them silently.
  if (!text.isWellFormed() || /[\s\p{Cc}]/u.test(text)) return { problems: [invalid("must not hold spaces or control characters")] };
  const url = URL.parse(text);
  if (url === null) return { problems: [/^[a-z]+:\/*\[[^\]]*%/i.test(text) ? PRIVATE : NO_URL] };
  plainSpelling(url);
  const [first, ...more] = problemsOf(url, text, rules);
  return first === undefined ? { href: url.href } : { problems: [first, ...more] };
}

function problemsOf(url: URL, text: string, { ports, loopback = false }: UrlRules): UrlProblem[] {
  const problems: UrlProblem[] = [];
  const isOwnMachine = loopback && isLoopbackHost(url.hostname) && /^https?:$/.test(url.protocol);
  if (isChatWebhook(url)) problems.push(CHAT);
  if (url.protocol !== "https:" && !isOwnMachine) problems.push(NOT_HTTPS);
  if (url.hostname === "") {
    // Of a scheme that is not the web's: what follows it says nothing to us.
    return problems;
  }
  if (!isOwnMachine) problems.push(...problemsOfHost(url.hostname));
  if (url.username !== "" || url.password !== "") problems.push(invalid("must not hold a user name or password"));
  // The parsed URL does not tell an empty fragment from none.
  if (text.includes("#")) problems.push(invalid("must not have a fragment (#…): it is never sent"));
  if (url.port !== "" && url.protocol === "https:" && !isOwnMachine && !ports.has(Number(url.port))) {
    problems.push(invalid(ports.size === 0 ? "must use port 443" : `must use one of the ports ${[443, ...ports].join(", ")}`));
  }
  if (url.href.length > URL_CHARACTERS_MAX) {
    problems.push(invalid(`must be at most ${URL_CHARACTERS_MAX} characters, those that must be encoded counted as encoded`));
  }
  return problems;
}

/** Names that mean a machine or a network of somebody's own, wherever they are looked up. */
const PRIVATE_SUFFIX = /\.(localhost|local|internal|lan|corp|home|home\.arpa)$/;

/** By now the parser has made `0x7f.1`, `2130706433` and `１２７.1` into `127.0.0.1`, and everything into lower case. */
function problemsOfHost(hostname: string): UrlProblem[] {
  const host = hostname.replace(/^\[(.*)\]$/, "$1").replace(/\.$/, "");
  if (isIP(host) !== 0) return isPublicAddress(host) ? [] : [PRIVATE];
  if (!isDomainName(host)) return [invalid("must name a host that can be looked up")];
  return !host.includes(".") || PRIVATE_SUFFIX.test(`.${host}`) ? [PRIVATE] : [];
}

const isDomainName = (host: string): boolean =>
  host.length <= 253 && host.split(".").every((label) => label.length >= 1 && label.length <= 63);
