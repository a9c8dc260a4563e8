import { errorReason } from "../output/error-reason.ts";

const ANSWER_MS = 5_000;

export type Fetched = { readonly status: number; readonly body: string } | { readonly failure: string };

/** What an HTTP address returns within five seconds; what kept it from doing so is a value too, in words. */
export async function fetchText(url: string, interrupted: AbortSignal): Promise<Fetched> {
  try {
    const signal = AbortSignal.any([interrupted, AbortSignal.timeout(ANSWER_MS)]);
    const response = await fetch(url, { signal, redirect: "error" });
    return { status: response.status, body: await response.text() };
  } catch (error) {
    interrupted.throwIfAborted();
    return { failure: reasonOf(error) };
  }
}

/** fetch hides what happened in the cause. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return errorReason(error);
  return error.name === "TimeoutError" ? `no answer within ${ANSWER_MS / 1_000} s` : errorReason(error.cause ?? error);
}
