import type { Receiver } from "@brand-records/proto/webhook/v1";
import type { Colors } from "../terminal.ts";
import { shortTime } from "./format.ts";
import type { Column } from "./table.ts";

/** A list of receivers on a terminal that others may see: of URLs the beginning. The rest may be a token; --json has it. */
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

const stateOf = ({ enabled, disabled_reason, disabled_at, rotating }: Receiver): string =>
  `${enabled ? "enabled" : `disabled ${shortTime(disabled_at)} (${disabled_reason ?? "unknown"})`}${rotating ? ", rotating" : ""}`;

const hasFailed = ({ last_status }: Receiver): boolean => last_status != null && (last_status < 200 || last_status > 299);

function lastOf({ last_status, last_delivery_at }: Receiver): string {
  if (last_status == null) return "-";
  return `${last_status === 0 ? "no answer" : last_status} ${shortTime(last_delivery_at)}`;
}

/** Enough to tell two receivers of a host apart, and too little for most tokens. */
const PATH_CHARACTERS_MAX = 24;

/** `https://hooks.brand.example/events/ledger`; what is left out, the query among it, is told by `…`. */
export function shortUrl(url: string): string {
  const parsed = URL.parse(url);
  if (parsed === null) return "…";
  const { origin, pathname, search } = parsed;
  if (pathname === "/" && search === "") return origin;
  const isWhole = pathname.length <= PATH_CHARACTERS_MAX && search === "";
  return `${origin}${pathname.slice(0, PATH_CHARACTERS_MAX)}${isWhole ? "" : "…"}`;
}
