import type { OpenText, ServiceErrorCode } from "./generated/api.ts";

/** What goes wrong outside the service. */
export type ClientErrorCode =
  /** No connection, no complete response, or none in time; also no key in time, if `key` is a function. */
  | "no_response"
  /** A response that is not the service's: not the JSON that it sends, a redirect, or a proxy's error page. Is `url` right? */
  | "unexpected_response"
  /** The response is of another brand than `expectBrand`, or than the pages before it. */
  | "wrong_brand";

export type ErrorCode = ServiceErrorCode | ClientErrorCode | OpenText;

export interface ErrorFields {
  readonly code: ErrorCode;
  readonly docsUrl?: string | undefined;
  readonly status?: number | undefined;
  readonly field?: string | undefined;
  readonly details?: readonly ProblemDetail[] | undefined;
  readonly requestId?: string | undefined;
  readonly retryAfter?: number | undefined;
  readonly brandId?: string | undefined;
}

export interface ProblemDetail {
  readonly field: string;
  readonly message: string;
}

/** Every failure of a request. Decide by `code`; `message` is for people. An aborted request rejects with its signal's reason instead. */
export class BrandRecordsError extends Error {
  override readonly name = "BrandRecordsError";
  readonly code: ErrorCode;
  /** The service's page about the code. */
  readonly docsUrl: string | undefined;
  /** HTTP status; undefined if no response came. */
  readonly status: number | undefined;
  /** The parameter or field that is wrong; the first if there are several. */
  readonly field: string | undefined;
  /** Every wrong field, if the service lists them. */
  readonly details: readonly ProblemDetail[];
  /** Identifies the request: quote it to support. */
  readonly requestId: string | undefined;
  /** Seconds after which to try again, if the service names a time. */
  readonly retryAfter: number | undefined;
  /** The brand of the key that was sent, if the response names it. */
  readonly brandId: string | undefined;
  /** How often the request was sent. */
  attempts = 1;
  /** The plan's `request_id`, from `prepareCampaignPlan`: send it with the same input, and there is still one plan. */
  planRequestId: string | undefined = undefined;

  constructor(
    message: string,
    { code, docsUrl, status, field, details = [], requestId, retryAfter, brandId }: ErrorFields,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.code = code;
    this.docsUrl = docsUrl;
    this.status = status;
    this.field = field;
    this.details = details;
    this.requestId = requestId;
    this.retryAfter = retryAfter;
    this.brandId = brandId;
  }
}
