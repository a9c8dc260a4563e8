import type { Receiver } from "@brand-records/proto/webhook/v1";
import type { Colors } from "../terminal.ts";
import { shortTime, timeWithSeconds } from "./format.ts";
import { factLines, type Column, type Fact } from "./table.ts";

/** Columns of a list of receivers. A URL is shortened, as its end may be a token; --json has the whole URL. */
export function receiverColumns(colors: Colors): Column<Receiver>[] {
  return [
    { title: "ID", cell: ({ id }) => id, paint: colors.cyan },
    { title: "STATE", cell: stateOf, paint: (text, { enabled }) => (enabled ? colors.green(text) : colors.red(text)) },
    { title: "LAST", cell: lastOf, paint: (text, receiver) => (hasFailed(receiver) ? colors.red(text) : text) },
    { title: "FAILURES", cell: ({ failures }) => String(failures), align: "right" },
    { title: "WAITING", cell: ({ waiting }) => String(waiting), align: "right" },
    { title: "EVENTS", cell: ({ events }) => events.join(", ") },
    { title: "URL", cell: ({ url }) => shortUrl(url) },
    { title: "LABEL", cell: ({ label }) => label },
  ];
}

/** Lays out a receiver for people to read. */
export function receiverText(receiver: Receiver, colors: Colors): string {
  const facts: readonly Fact[] = [
    ["ID", receiver.id, colors.cyan],
    ["Label", receiver.label, colors.bold],
    ["URL", shortUrl(receiver.url)],
    ["Events", receiver.events.join(", ")],
    ["State", stateOf(receiver), receiver.enabled ? colors.green : colors.red],
    ["Next secret", nextSecretOf(receiver)],
    ["Last attempt", lastOf(receiver), hasFailed(receiver) ? colors.red : String],
    ["Failures", String(receiver.failures)],
    ["Waiting", String(receiver.waiting)],
    ["In flight", `at most ${receiver.max_in_flight}`],
    ["Created (UTC)", shortTime(receiver.created_at)],
    ["Updated (UTC)", shortTime(receiver.updated_at)],
  ];
  return factLines(facts, colors).join("\n");
}

function nextSecretOf({ rotating, next_secret_at, next_secret_accepted_at }: Receiver): string {
  if (!rotating) return "none";
  const accepted =
    next_secret_accepted_at == null ? "no test signed with it accepted yet" : `accepted ${shortTime(next_secret_accepted_at)}`;
  return `made ${shortTime(next_secret_at)}, ${accepted}`;
}

function stateOf({ enabled, disabled_reason, disabled_at, paused_until, rotating }: Receiver): string {
  const state = enabled ? "enabled" : `disabled ${shortTime(disabled_at)} (${disabled_reason ?? "unknown"})`;
  return `${state}${paused_until == null ? "" : `, paused until ${timeWithSeconds(paused_until)}`}${rotating ? ", rotating" : ""}`;
}

const hasFailed = ({ last_status }: Receiver): boolean => last_status != null && (last_status < 200 || last_status > 299);

function lastOf({ last_status, last_delivery_at }: Receiver): string {
  if (last_status == null) return "-";
  return `${last_status === 0 ? "no response" : last_status} ${shortTime(last_delivery_at)}`;
}

/** Enough to distinguish two receivers on a host, too little for most tokens. */
const PATH_CHARACTERS_MAX = 24;

/** `https://hooks.brand.example/events/ledger`; `…` stands for what is left out, such as the query. */
export function shortUrl(url: string): string {
  const parsed = URL.parse(url);
  if (parsed === null) return "…";
  const { origin, pathname, search } = parsed;
  if (pathname === "/" && search === "") return origin;
  const isWhole = pathname.length <= PATH_CHARACTERS_MAX && search === "";
  return `${origin}${pathname.slice(0, PATH_CHARACTERS_MAX)}${isWhole ? "" : "…"}`;
}
