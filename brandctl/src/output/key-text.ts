import type { Key } from "@brand-records/proto/accounts/v1";
import { ago, type ColorName, type Column, type Fact, shortTime, timeWithSeconds } from "@brand-records/command-line";

/** Printed wherever the time of a key's last use is shown, and where there is none yet. */
export const LAST_USE_LAGS = "The time a key was last used may lag by a minute.";

export const KEY_COLUMNS: readonly Column<Key>[] = [
  { title: "ID", cell: ({ id }) => id, paint: "cyan" },
  { title: "KEY", cell: ({ hint }) => hint },
  { title: "MAY", cell: shortPermissions },
  { title: "LAST USED (UTC)", cell: ({ last_used_at }) => timeWithSeconds(last_used_at) },
  { title: "CREATED", cell: ({ created_at }) => created_at.slice(0, 10) },
  { title: "STATE", cell: stateOf, paint: stateColor },
  // Last: text from right to left would reorder columns to its right on some terminals.
  { title: "NAME", cell: ({ name }) => name, cutTo: 8 },
];

export function keyFacts(key: Key): Fact[] {
  const { id, brand_id, name, environment, hint, permissions, created_at, created_by, last_used_at, revoked_at, revoked_by } = key;
  return [
    ["ID", id, "cyan"],
    ["Name", name, "bold"],
    ["Key", hint],
    ["State", stateOf(key), stateColor(key)],
    ["Brand", brand_id],
    ["Environment", environment],
    ["Permissions", permissions.join(", ")],
    ["Created (UTC)", `${shortTime(created_at)} by ${created_by}`],
    ["Last used (UTC)", `${timeWithSeconds(last_used_at)} (may lag by a minute)`],
    ...(revoked_at == null ? [] : [["Revoked (UTC)", `${timeWithSeconds(revoked_at)} by ${revoked_by ?? "-"}`] satisfies Fact]),
  ];
}

/** `used 3 minutes ago (2026-11-21 08:30:05 UTC)`, or `never used`. @param nowMs milliseconds since the epoch */
export function useText({ last_used_at }: Key, nowMs: number): string {
  if (last_used_at == null) return "never used";
  return `used ${ago(nowMs - Date.parse(last_used_at))} (${timeWithSeconds(last_used_at)} UTC)`;
}

function stateOf({ revoked_at }: Key): string {
  return revoked_at == null ? "active" : "revoked";
}

function stateColor({ revoked_at }: Key): ColorName {
  return revoked_at == null ? "green" : "red";
}

/** `read, prepare` for `records:read, campaigns:prepare`. */
function shortPermissions({ permissions }: Key): string {
  return permissions.map((permission) => permission.slice(permission.indexOf(":") + 1)).join(", ");
}
