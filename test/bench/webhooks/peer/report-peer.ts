import { doubtLines } from "../report.ts";
import { HANGING, RATE_PER_SECOND, RECEIVERS } from "../settings.ts";
import type { PeerResult } from "./measure-peer.ts";

/** Formats the peer's result for a terminal. */
export function reportPeer({ peer_deliveries_per_second: rate, p50_ms, p99_ms, ratios, not_to_be_trusted }: PeerResult): string {
  return [
    `  deliveries per second           ${Math.round(rate).toLocaleString("en").padStart(8)}   from the first publication to the last arrival`,
    `  p99 publication to arrival      ${Math.round(p99_ms).toLocaleString("en").padStart(8)} ms at ${RATE_PER_SECOND}/s; median ${Math.round(p50_ms)} ms`,
    `  healthy p99 with hanging / calm ${ratios.healthy_p99_with_hanging_over_without.median.toFixed(2).padStart(8)}   ${HANGING} of ${RECEIVERS} hang`,
    ...doubtLines(not_to_be_trusted),
  ].join("\n");
}
