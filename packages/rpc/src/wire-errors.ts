import { AppError, ERROR_KINDS, isErrorKind, type Dependency, type ErrorKind, type ProblemDetail } from "@brand-records/errors";
import { Metadata, status, type ServiceError, type StatusObject } from "@grpc/grpc-js";

/** Trailers that carry the parts of an AppError that a gRPC status has no place for. */
const KIND = "error-kind";
const BODY = "error-body-bin";

/**
 * Trailers beyond 64 KiB end the whole connection with all its calls. Percent-encoding turns a character into up to nine
 * bytes.
 */
const MESSAGE_CHARACTERS_MAX = 2_000;
const FIELD_CHARACTERS_MAX = 200;
const BODY_BYTES_MAX = 16 * 1024;

interface WireBody {
  field?: string;
  details?: readonly ProblemDetail[];
  retryAfterSeconds?: number;
}

/** Converts an error to a gRPC status. Truncates the message and drops the last details of an error too large to send. */
export function toStatus(error: AppError): StatusObject {
  const metadata = new Metadata();
  metadata.set(KIND, error.kind);
  const body: WireBody = {
    ...(error.field !== undefined && { field: error.field.slice(0, FIELD_CHARACTERS_MAX) }),
    ...(error.details !== undefined && { details: detailsThatFit(error.details) }),
    ...(error.retryAfterSeconds !== undefined && { retryAfterSeconds: error.retryAfterSeconds }),
  };
  if (Object.keys(body).length > 0) metadata.set(BODY, Buffer.from(JSON.stringify(body)));
  // A lone surrogate cannot be percent-encoded: grpc-js would throw an uncaught error.
  const details = error.message.slice(0, MESSAGE_CHARACTERS_MAX).toWellFormed();
  return { code: status[ERROR_KINDS[error.kind].grpc], details, metadata };
}

function detailsThatFit(details: readonly ProblemDetail[]): readonly ProblemDetail[] {
  let bytes = 0;
  const firstBeyond = details.findIndex((detail) => (bytes += Buffer.byteLength(JSON.stringify(detail))) > BODY_BYTES_MAX);
  return firstBeyond === -1 ? details : details.slice(0, firstBeyond);
}

/**
 * Restores the AppError that the server threw, which the server has reported. What grpc-js makes itself, such as `unavailable` without a
 * connection, arises here.
 *
 * @param server the service that was called
 */
export function fromServiceError(error: ServiceError, server?: Dependency): AppError {
  const kind = error.metadata?.get(KIND)[0];
  if (typeof kind === "string" && isErrorKind(kind)) {
    const body = error.metadata.get(BODY)[0];
    const rest = body instanceof Buffer ? (JSON.parse(body.toString()) as WireBody) : {};
    return new AppError(kind, error.details, { ...rest, cause: error, isReported: true });
  }
  const transport = TRANSPORT_ERRORS[error.code];
  return transport === undefined
    ? AppError.from(error, server)
    : new AppError(transport.kind, transport.message, { ...transport.options, cause: error, dependency: server });
}

/** Whether a call failed because its server does not have the method, as one of another release. */
export const isUnimplemented = (error: unknown): boolean =>
  error instanceof AppError && (error.cause as Partial<ServiceError> | undefined)?.code === status.UNIMPLEMENTED;

const UNAVAILABLE = {
  kind: "unavailable" as ErrorKind,
  message: "A part of the service is unavailable. Try again shortly.",
  options: { retryAfterSeconds: 1 },
};

const TRANSPORT_ERRORS: Partial<Record<status, { kind: ErrorKind; message: string; options?: { retryAfterSeconds: number } }>> = {
  [status.UNAVAILABLE]: UNAVAILABLE,
  [status.RESOURCE_EXHAUSTED]: UNAVAILABLE,
  [status.CANCELLED]: UNAVAILABLE,
  // A process of another release, beside this one during an update: it has done nothing, and the next one may have the method.
  [status.UNIMPLEMENTED]: UNAVAILABLE,
  [status.DEADLINE_EXCEEDED]: { kind: "timeout", message: "The request took too long. Try again." },
};
