import { idPattern, idRule } from "@brand-records/ids";
import { UsageFailure } from "./failure.ts";
import { brokenIdRule, KIND_NAMES } from "./set-status/status-rules.ts";

/** What a command names by an id, with the id's prefix. Records that the platform writes have kinds of their own: KIND_NAMES. */
const PREFIXES = { brand: "brd", key: "key", plan: "pln", receiver: "rcv", delivery: "dlv", event: "evt", replay: "rpl" } as const;

export type IdKind = keyof typeof PREFIXES;

/**
 * Returns an id of the command line as it is, so that a wrong one is reported before any call.
 *
 * @param name what the message names, such as `--brand`
 * @param kind an IdKind or one of KIND_NAMES
 * @throws UsageFailure for an empty id and for one of another kind
 */
export function requireId(name: string, kind: string, id: string): string {
  requireText(name, id);
  const rule = brokenRule(kind, id);
  if (rule === undefined) return id;
  throw new UsageFailure(`${name} ${rule}; ${id} is not.`, hintFor(kind, id));
}

/** @param name what the message names, such as `--name` @throws UsageFailure if nothing or only blanks are given */
export function requireText(name: string, text: string): string {
  if (text.trim() !== "") return text;
  throw new UsageFailure(`${name} must not be empty.`);
}

/** What every address has. accounts checks the rest. */
const EMAIL = /^[^\s@]+@[^\s@]+\.[^\s@]+$/;

/** @param name what the message names @throws UsageFailure for what cannot be an e-mail address */
export function requireEmail(name: string, text: string): string {
  requireText(name, text);
  if (EMAIL.test(text)) return text;
  throw new UsageFailure(`${name} must be one such as ana@brand.example; ${text} is not.`);
}

function brokenRule(kind: string, id: string): string | undefined {
  if (!isIdKind(kind)) return brokenIdRule(kind, id);
  const prefix = PREFIXES[kind];
  return idPattern(prefix).test(id) ? undefined : idRule(prefix);
}

function hintFor(kind: string, id: string): string | undefined {
  const actual = [...Object.keys(PREFIXES), ...KIND_NAMES].find((other) => brokenRule(other, id) === undefined);
  if (actual !== undefined) return `It is the id of a ${actual}.`;
  return kind === "brand" ? "brandctl brands list shows the brands" : undefined;
}

const isIdKind = (kind: string): kind is IdKind => Object.hasOwn(PREFIXES, kind);
