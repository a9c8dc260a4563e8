import { FIRST_READS_ID, type FirstRead } from "@brand-records/console-contract/protocol";
import type { QueryClient } from "@tanstack/react-query";

/** Longer than any device takes to begin. */
const FRESH_MS = 60_000;

/** Takes what the server has read for the page, as if its screen had just called for it. It stays fresh until `endFirstReads`. */
export function takeFirstReads(client: QueryClient): void {
  const element = document.getElementById(FIRST_READS_ID);
  if (element === null) return;
  const reads = JSON.parse(element.textContent) as readonly FirstRead[];
  // It names people and records: what the page shows later must not leave it behind.
  element.remove();
  for (const { name, input, output } of reads) client.setQueryData([name, input], output, { updatedAt: Date.now() + FRESH_MS });
}

let hasEnded = false;

/**
 * To be called once a screen shows: from then on, what shows again is read again as ever, and what is read later is newer. Only the first
 * call does anything.
 */
export function endFirstReads(client: QueryClient): void {
  if (hasEnded) return;
  hasEnded = true;
  const now = Date.now();
  for (const query of client.getQueryCache().getAll()) {
    if (query.state.dataUpdatedAt > now) query.setState({ dataUpdatedAt: now });
  }
  void client.invalidateQueries({ refetchType: "none" });
}
