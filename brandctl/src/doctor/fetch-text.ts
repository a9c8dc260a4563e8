import { errorReason } from "@brand-records/terminal-output";

const RESPONSE_MS = 5_000;

export type Fetched = { readonly status: number; readonly body: string } | { readonly failure: string };

/** Reads an HTTP address within five seconds. A failure is returned as text, not thrown; only an interruption throws. */
export async function fetchText(url: string, interrupted: AbortSignal): Promise<Fetched> {
  try {
    const signal = AbortSignal.any([interrupted, AbortSignal.timeout(RESPONSE_MS)]);
    const response = await fetch(url, { signal, redirect: "error" });
    return { status: response.status, body: await response.text() };
  } catch (error) {
    interrupted.throwIfAborted();
    return { failure: reasonOf(error) };
  }
}

/** fetch puts the reason into the cause. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return errorReason(error);
  return error.name === "TimeoutError" ? `no response within ${RESPONSE_MS / 1_000} s` : errorReason(error.cause ?? error);
}
