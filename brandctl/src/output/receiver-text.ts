import type { Receiver } from "@brand-records/proto/webhook/v1";
import {
  type ColorName,
  type Column,
  type Detail,
  DETAIL_COLUMNS_MAX,
  type Fact,
  shortened,
  table,
  timeWithSeconds,
} from "@brand-records/command-line";
import type { Colors } from "../terminal.ts";
import { failedColor, outcomeText, pauseText, type LastAttempt } from "./outcome-text.ts";

/** Lays out receivers, each with its URL and events on a line below. A URL is shortened, as its end may be a token. */
export const receiversTable = (receivers: readonly Receiver[], colors: Colors, none = ""): string =>
  table(COLUMNS, receivers, colors, none, receiverDetails);

const COLUMNS: readonly Column<Receiver>[] = [
  { title: "ID", cell: ({ id }) => id, paint: "cyan" },
  { title: "STATE", cell: (receiver) => stateOf(receiver), paint: stateColor },
  {
    title: "LAST OUTCOME",
    cell: (receiver) => outcomeText(lastAttempt(receiver)) ?? "-",
    paint: (receiver) => failedColor(lastAttempt(receiver)),
  },
  { title: "LAST ATTEMPT (UTC)", cell: ({ last_delivery_at }) => timeWithSeconds(last_delivery_at) },
  { title: "FAILURES", cell: ({ failures }) => String(failures), align: "right" },
  { title: "WAITING", cell: ({ waiting }) => String(waiting), align: "right" },
  // Last: text from right to left would reorder columns to its right on some terminals.
  { title: "LABEL", cell: ({ label }) => label, cutTo: 8 },
];

function receiverDetails(receiver: Receiver): Detail[] {
  const events = receiver.events.join(", ");
  const url = shortened(shortUrl(receiver.url), DETAIL_COLUMNS_MAX - 2 - events.length);
  const reason = reasonOf(receiver);
  return [
    { text: `${url}  ${events}`, paint: "dim" },
    ...(reason === undefined ? [] : [{ text: reason, paint: receiver.enabled ? "yellow" : "red" } satisfies Detail]),
  ];
}

/** One receiver, with its whole URL. */
export function receiverFacts(receiver: Receiver): Fact[] {
  const { id, brand_id, label, url, events, last_delivery_at, failures, waiting, max_in_flight, created_at, updated_at } = receiver;
  return [
    ["ID", id, "cyan"],
    ["Brand", brand_id],
    ["Label", label, "bold"],
    ["State", stateOf(receiver, reasonOf(receiver)), stateColor(receiver)],
    ["Next secret", nextSecretText(receiver)],
    ["Last outcome", outcomeText(lastAttempt(receiver)) ?? "-", failedColor(lastAttempt(receiver))],
    ["Last attempt (UTC)", timeWithSeconds(last_delivery_at)],
    ["Failures", String(failures)],
    ["Waiting", waiting.toLocaleString("en")],
    ["Events", events.join(", ")],
    ["URL", url],
    ["Max in flight", String(max_in_flight)],
    ["Created (UTC)", timeWithSeconds(created_at)],
    ["Updated (UTC)", timeWithSeconds(updated_at)],
  ];
}

function nextSecretText({ rotating, next_secret_at, next_secret_accepted_at }: Receiver): string {
  if (!rotating) return "none";
  const test =
    next_secret_accepted_at == null ? "no test signed with it accepted yet" : `accepted ${timeWithSeconds(next_secret_accepted_at)}`;
  return `made ${timeWithSeconds(next_secret_at)}, ${test}`;
}

const lastAttempt = ({ last_outcome, last_status }: Receiver): LastAttempt => ({ outcome: last_outcome, status: last_status });

/** @param reason replaces the one word that a table has room for */
function stateOf({ enabled, paused_until, rotating }: Receiver, reason?: string): string {
  const state = enabled ? (paused_until == null ? "enabled" : "paused") : "disabled";
  return `${reason ?? state}${rotating ? ", rotating" : ""}`;
}

function stateColor({ enabled, paused_until }: Receiver): ColorName {
  if (!enabled) return "red";
  return paused_until == null ? "green" : "yellow";
}

/** Why nothing is sent; undefined if it is. */
function reasonOf(receiver: Receiver): string | undefined {
  const { enabled, disabled_at, disabled_reason } = receiver;
  return enabled ? pauseText(receiver) : `disabled ${timeWithSeconds(disabled_at)} UTC (${disabled_reason ?? "unknown"})`;
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
