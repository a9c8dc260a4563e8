import { errorReason } from "@brand-records/command-line";
import { requireConnection, silenceAfter } from "./reachability.ts";

const RESPONSE_MS = 5_000;

export type Fetched = { readonly status: number; readonly body: string } | { readonly failure: string };

/**
 * Reads an HTTP address. A failure is returned as text, not thrown; only an interruption throws.
 *
 * @param responseMs time for the response, in milliseconds. Default: 5,000. A connection that cannot be made fails sooner
 */
export async function fetchText(url: string, interrupted: AbortSignal, responseMs = RESPONSE_MS): Promise<Fetched> {
  try {
    const signal = AbortSignal.any([interrupted, AbortSignal.timeout(responseMs)]);
    const { hostname, port, protocol } = new URL(url);
    await requireConnection({ host: hostname.replace(/^\[|\]$/g, ""), port: Number(port || (protocol === "https:" ? 443 : 80)) }, signal);
    const response = await fetch(url, { signal, redirect: "error" });
    return { status: response.status, body: await response.text() };
  } catch (error) {
    interrupted.throwIfAborted();
    return { failure: reasonOf(error, responseMs) };
  }
}

/** fetch puts the reason into the cause. */
function reasonOf(error: unknown, responseMs: number): string {
  if ((error as { readonly name?: unknown }).name === "TimeoutError") return silenceAfter(responseMs);
  return errorReason(error instanceof Error ? (error.cause ?? error) : error);
}
