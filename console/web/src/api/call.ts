import { PERSON_FIELD, ROLE_HEADER, NO_SUCH_OPERATION } from "@brand-records/console-contract/protocol";
import type { ErrorBody, Input, OperationName, Output } from "@brand-records/console-contract";

/** A call failed. `code` is one of packages/errors, `unreachable` if no response came, or `updating`. */
export class CallError extends Error {
  override readonly name = "CallError";
  readonly code: string;
  readonly details: readonly { readonly field: string; readonly message: string }[];
  /** Absent if no response came. */
  readonly requestId: string | undefined;

  constructor({ code, message, field, details, request_id }: Omit<ErrorBody["error"], "request_id"> & { readonly request_id?: string }) {
    super(message);
    this.code = code;
    this.details = details ?? (field === undefined ? [] : [{ field, message }]);
    this.requestId = request_id;
  }
}

/** The errors of a form's fields by name; empty for an error that names no field. */
export const fieldErrors = (error: unknown): Record<string, string> =>
  error instanceof CallError ? Object.fromEntries(error.details.map(({ field, message }) => [field, capitalized(message)])) : {};

/** Messages of services continue a field's name: "must not be empty". */
const capitalized = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1);

/** Tells that a page's record does not exist: an unknown id, one that cannot be an id, another brand's and one that is no longer stored look alike. */
export const isGone = (error: Error | null): boolean =>
  error instanceof CallError && ["not_found", "invalid_request"].includes(error.code) && !isOfOtherSession(error);

const UPDATING = {
  code: "updating",
  message: "The console is being updated. Try again in a moment; if that does not help, reload the page.",
  details: [],
};

/**
 * The page has reached a console or a service of another release, which does not know the operation or a field of its input, and has done
 * nothing. While processes are replaced, the next call may reach one of its own; a page that has stayed open since before an update finds none.
 */
const isOfOtherRelease = ({ code, message, details = [] }: Omit<ErrorBody["error"], "request_id">): boolean =>
  message === NO_SUCH_OPERATION || (code === "invalid_request" && details.length > 0 && details.every(({ field }) => field === ""));

/** Another person is signed in, or the person is no member of the brand any more, or no owner: the session has changed since it was read. */
export const isOfOtherSession = (error: Error): boolean =>
  error instanceof CallError &&
  (["other_person", "owner_required"].includes(error.code) ||
    (error.code === "not_found" && error.details.some(({ field }) => field === "brand_id")));

/** No response says what happened: a change may have been made. */
export const isUncertain = (error: Error): boolean =>
  error instanceof CallError && ["unreachable", "unavailable", "timeout", "internal_error"].includes(error.code);

export interface CallOptions {
  /** The person who acts: the call is refused with `other_person` if another one is signed in. */
  readonly as?: string;
  readonly signal?: AbortSignal;
}

/** Hears in which role the person made each call of a brand. */
type RoleListener = (brandId: string, role: string) => void;

let onRole: RoleListener = () => {};

/** Sets the listener of the roles that responses name. */
export function listenToRoles(listener: RoleListener): void {
  onRole = listener;
}

/** Longer than a service may take: a connection that has gone silent must not keep a page waiting. */
const CALL_MS_MAX = 70_000;

/** @throws CallError */
export async function call<Name extends OperationName>(
  name: Name,
  input: Input<Name>,
  { as, signal }: CallOptions = {},
): Promise<Output<Name>> {
  const headers = { "content-type": "application/json" };
  const sent = JSON.stringify({ ...input, [PERSON_FIELD]: as });
  const deadline = AbortSignal.timeout(CALL_MS_MAX);
  const request = { method: "POST", headers, body: sent, signal: signal ? AbortSignal.any([signal, deadline]) : deadline };
  let response: Response;
  try {
    response = await fetch(`/console/api/${name}`, request);
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new CallError({ code: "unreachable", message: "The service could not be reached. Check your connection, then try again." });
  }
  const body: unknown = await response.json().catch(() => undefined);
  signal?.throwIfAborted();
  const role = response.headers.get(ROLE_HEADER);
  if (role !== null && "brand_id" in input) onRole(input.brand_id, role);
  const requestId = response.headers.get("x-request-id");
  if (response.ok) {
    if (body !== undefined) return body as Output<Name>;
    // A key, a secret or a link may have been in it: this is no success.
    throw new CallError({
      code: "unreachable",
      message: "The service’s response did not arrive whole.",
      ...(requestId && { request_id: requestId }),
    });
  }
  const fallback = {
    code: "internal_error",
    message: `The service responded with ${response.status}.`,
    ...(requestId && { request_id: requestId }),
  };
  const failure = (body as ErrorBody | undefined)?.error ?? fallback;
  throw new CallError(isOfOtherRelease(failure) ? { ...failure, ...UPDATING } : failure);
}
