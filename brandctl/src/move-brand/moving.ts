import { setTimeout as pause } from "node:timers/promises";
import type { ProgressBar } from "@brand-records/command-line";
import type { Client } from "../connection/clients.ts";
import type { Cell } from "./cell.ts";

/** A move that a command makes. */
export interface Moving {
  readonly brandId: string;
  readonly source: Cell;
  readonly target: Cell;
  readonly accounts: Client<"accounts">;
  readonly operator: Client<"accounts.operator">;
  /** Ctrl-C. */
  readonly signal: AbortSignal;
  tell(text: string): void;
  /** @param total records */
  openBar(total: number): ProgressBar;
}

const POLL_MS = 20;

/** Asks until the answer is yes, or the time of `performance.now` has come. @returns the last answer */
export async function until(endsAt: number, signal: AbortSignal, ask: () => Promise<boolean>): Promise<boolean> {
  for (let pollMs = POLL_MS; ; pollMs = Math.min(pollMs + POLL_MS, 200)) {
    if (await ask()) return true;
    if (performance.now() > endsAt) return false;
    await pause(pollMs, undefined, { signal });
  }
}
