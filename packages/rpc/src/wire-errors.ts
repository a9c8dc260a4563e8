import { AppError, ERROR_KINDS, isErrorKind, type ErrorKind, type ProblemDetail } from "@brand-records/errors";
import { Metadata, status, type ServiceError, type StatusObject } from "@grpc/grpc-js";

/** The rest of an AppError travels in trailers, so that both ends speak of the same kind. */
const KIND = "error-kind";
const BODY = "error-body-bin";

interface WireBody {
  field?: string;
  details?: readonly ProblemDetail[];
  retryAfterSeconds?: number;
}

export function toStatus(error: AppError): StatusObject {
  const metadata = new Metadata();
  metadata.set(KIND, error.kind);
  const body: WireBody = {
    ...(error.field !== undefined && { field: error.field }),
    ...(error.details !== undefined && { details: error.details }),
    ...(error.retryAfterSeconds !== undefined && { retryAfterSeconds: error.retryAfterSeconds }),
  };
  if (Object.keys(body).length > 0) metadata.set(BODY, Buffer.from(JSON.stringify(body)));
  return { code: status[ERROR_KINDS[error.kind].grpc], details: error.message, metadata };
}

/** What the other side of a call said, as the AppError it was thrown as; a broken connection as `unavailable`. */
export function fromServiceError(error: ServiceError): AppError {
  const kind = error.metadata?.get(KIND)[0];
  if (typeof kind === "string" && isErrorKind(kind)) {
    const body = error.metadata.get(BODY)[0];
    const rest = body instanceof Buffer ? (JSON.parse(body.toString()) as WireBody) : {};
    return new AppError(kind, error.details, { ...rest, cause: error });
  }
  const transport = TRANSPORT_ERRORS[error.code];
  return transport === undefined
    ? AppError.from(error)
    : new AppError(transport.kind, transport.message, { ...transport.options, cause: error });
}

const UNAVAILABLE = {
  kind: "unavailable" as ErrorKind,
  message: "A part of the service cannot be reached just now. Try again shortly.",
  options: { retryAfterSeconds: 1 },
};

const TRANSPORT_ERRORS: Partial<Record<status, { kind: ErrorKind; message: string; options?: { retryAfterSeconds: number } }>> = {
  [status.UNAVAILABLE]: UNAVAILABLE,
  [status.RESOURCE_EXHAUSTED]: UNAVAILABLE,
  [status.CANCELLED]: UNAVAILABLE,
  [status.DEADLINE_EXCEEDED]: { kind: "timeout", message: "The answer took too long. Try again; a smaller page is quicker." },
};
