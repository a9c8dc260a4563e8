import { FIRST_READS_ID, type FirstRead } from "@brand-records/console-contract/first-reads";
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

/** Called once the first screen shows: from then on, whatever shows again, or in another tab's place, is read again as ever. */
export const endFirstReads = (client: QueryClient): void => void client.invalidateQueries({ refetchType: "none" });
