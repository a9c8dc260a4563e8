import { CommandFailure, Interrupted, UsageFailure, type FailureReport } from "@brand-records/command-line";
import { BrandRecordsError, DeliveryError } from "@brand-records/client";

/** What to do, by the error's code, beyond what the service says of it. */
const HINTS: Readonly<Record<string, string>> = {
  missing_key: "Set BRAND_RECORDS_KEY to the brand's API key.",
  invalid_key: "Set BRAND_RECORDS_KEY to a key that is whole and not revoked. The brand's owners create keys in the Developers area.",
  permission_required: "Use a key with this permission: an owner chooses it when creating the key. brand-records whoami shows a key's.",
  invalid_cursor: "Repeat --cursor as it was printed, with the same resource and filters, or leave it out to begin again.",
  rate_limited: "All keys of the brand share its limit.",
  no_response: "Is BRAND_RECORDS_URL right, and can this machine reach it? For a certificate of your own: NODE_EXTRA_CA_CERTS=ca.pem.",
  wrong_brand: "Set BRAND_RECORDS_KEY to a key of the brand that it began with.",
  unexpected_response: "Is BRAND_RECORDS_URL the service's address, such as https://records.example?",
};

/**
 * Returns the failure of work that the same command continues.
 *
 * @param kept what the work has done, and what to do
 * @param restart what to do if the place where it would go on is refused. Default: `kept`
 */
export function withNextStep(error: unknown, signal: AbortSignal, kept: string, restart = kept): unknown {
  if (signal.aborted) return new Interrupted("Interrupted.", kept);
  if (error instanceof BrandRecordsError) {
    const steps = error.code === "invalid_cursor" ? [restart] : [reportOf(error).hint, kept];
    return new CommandFailure(error.code, error.message, { cause: error, hint: steps.filter(Boolean).join("\n") });
  }
  if (!(error instanceof CommandFailure) || error instanceof UsageFailure) return error;
  return new CommandFailure(error.code, error.message, { cause: error, hint: error.hint ?? kept });
}

export function reportOf(error: unknown): FailureReport {
  if (error instanceof CommandFailure) {
    // A request's failure, with what the command adds to it.
    const request = error.cause instanceof BrandRecordsError ? reportOf(error.cause) : undefined;
    const hint = error.hint ?? request?.hint;
    return { ...request, code: error.code, message: error.message, ...(hint !== undefined && { hint }) };
  }
  if (error instanceof BrandRecordsError) {
    const { code, docsUrl, message, field, details, requestId, retryAfter } = error;
    const hint = retryAfter === undefined ? HINTS[code] : `${HINTS[code] ?? ""} Again in ${retryAfter} s.`.trim();
    return {
      code,
      ...(docsUrl !== undefined && { docs_url: docsUrl }),
      message,
      ...(field !== undefined && { field }),
      ...(details.length > 0 && { details }),
      ...(requestId !== undefined && { request_id: requestId }),
      ...(hint !== undefined && { hint }),
    };
  }
  if (error instanceof DeliveryError) return { code: error.code, message: error.message };
  // Unforeseen, so a defect of this program: the report needs the stack.
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return { code: "unexpected_error", message: `unexpected error in brand-records, please report it: ${stack}` };
}
