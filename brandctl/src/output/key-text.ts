import type { Key } from "@brand-records/proto/accounts/v1";
import { ago, type Column, type Fact, factLines, shortTime, table, timeWithSeconds } from "@brand-records/command-line";
import type { Colors } from "../terminal.ts";

/** Printed wherever the time of a key's last use is shown, and where there is none yet. */
export const LAST_USE_LAGS = "The time a key was last used may lag by a minute.";

export function keysTable(keys: readonly Key[], colors: Colors, none: string): string {
  return table(keyColumns(colors), keys, colors, none);
}

function keyColumns(colors: Colors): Column<Key>[] {
  return [
    { title: "ID", cell: ({ id }) => id, paint: colors.cyan },
    { title: "KEY", cell: ({ hint }) => hint },
    { title: "MAY", cell: shortPermissions },
    { title: "LAST USED (UTC)", cell: ({ last_used_at }) => timeWithSeconds(last_used_at) },
    { title: "CREATED", cell: ({ created_at }) => created_at.slice(0, 10) },
    { title: "STATE", cell: stateOf, paint: (text, key) => paintState(text, key, colors) },
    // Last: text from right to left would reorder columns to its right on some terminals.
    { title: "NAME", cell: ({ name }) => name, cutTo: 8 },
  ];
}

/** Lays out one key for people to read. */
export function keyText(key: Key, colors: Colors): string {
  const { id, brand_id, name, environment, hint, permissions, created_at, created_by, last_used_at, revoked_at, revoked_by } = key;
  const facts: readonly Fact[] = [
    ["ID", id, colors.cyan],
    ["Name", name, colors.bold],
    ["Key", hint],
    ["State", stateOf(key), (text) => paintState(text, key, colors)],
    ["Brand", brand_id],
    ["Environment", environment],
    ["Permissions", permissions.join(", ")],
    ["Created (UTC)", `${shortTime(created_at)} by ${created_by}`],
    ["Last used (UTC)", `${timeWithSeconds(last_used_at)} (may lag by a minute)`],
    ...(revoked_at == null ? [] : [["Revoked (UTC)", `${timeWithSeconds(revoked_at)} by ${revoked_by ?? "-"}`] satisfies Fact]),
  ];
  return factLines(facts, colors).join("\n");
}

/** `used 3 minutes ago (2026-11-21 08:30:05 UTC)`, or `never used`. @param nowMs milliseconds since the epoch */
export function useText({ last_used_at }: Key, nowMs: number): string {
  if (last_used_at == null) return "never used";
  return `used ${ago(nowMs - Date.parse(last_used_at))} (${timeWithSeconds(last_used_at)} UTC)`;
}

const stateOf = ({ revoked_at }: Key): string => (revoked_at == null ? "active" : "revoked");

const paintState = (text: string, { revoked_at }: Key, colors: Colors): string =>
  revoked_at == null ? colors.green(text) : colors.red(text);

/** `read, prepare` for `records:read, campaigns:prepare`. */
const shortPermissions = ({ permissions }: Key): string =>
  permissions.map((permission) => permission.slice(permission.indexOf(":") + 1)).join(", ");
