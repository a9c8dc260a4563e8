/** A certificate of another name, one that has expired, or one of an authority that is not trusted. */
const UNTRUSTED = /CERT_|_CERT|UNABLE_TO_|peer certificate/;

/** What no repetition changes, in the words of the runtimes' errors, and what to do about it. Node.js and Bun have codes; workerd says nothing. */
const LASTING: readonly (readonly [words: RegExp, advice: string])[] = [
  [/ECONNREFUSED|onnection refused|bad port|are blocked/, "nothing listens there: is url right, and does the service run?"],
  [/ENOTFOUND|Name or service not known/, "there is no such host: is url right?"],
  [UNTRUSTED, "its certificate is not trusted here: is url right? If its authority is your own, this program must be told to trust it"],
  [/ERR_SSL|EPROTO|InvalidContentType/, "what listens there speaks no TLS: must url begin with http://?"],
];

/** Returns what to do about a failed fetch that repetitions do not change; undefined if it may pass. */
export function adviceFor(error: unknown): string | undefined {
  const words = wordsOf(error);
  return LASTING.find(([pattern]) => pattern.test(words))?.[1];
}

/** Returns whether a fetch failed for the certificate alone. */
export const isUntrusted = (error: unknown): boolean => UNTRUSTED.test(wordsOf(error));

/** Returns codes and messages of an error and of its causes. */
function wordsOf(error: unknown): string {
  if (!(error instanceof Error)) return "";
  const { code } = error as { readonly code?: unknown };
  return `${String(code)} ${error.message} ${wordsOf(error.cause)}`;
}
