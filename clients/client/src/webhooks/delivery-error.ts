/** Why a delivery is not verified. */
export type DeliveryProblem =
  /** There is neither signature, or one of them lacks a header that belongs to it. */
  | "missing_header"
  /** A header is repeated, or has another form than the service gives it. */
  | "malformed_header"
  /** It was signed too long ago, or the clocks differ. */
  | "timestamp_outside_window"
  /** No secret made a signature over these bytes: another secret, or a body that was parsed or changed. */
  | "wrong_signature"
  /** The signed body is not an event in JSON. */
  | "invalid_body"
  /** A header that is not signed names another event or type than the signed body. */
  | "header_mismatch";

/** A delivery that is not verified: respond with 401. The message has no value from the request and may be sent back. */
export class DeliveryError extends Error {
  override readonly name = "DeliveryError";
  readonly code: DeliveryProblem;

  constructor(code: DeliveryProblem, message: string) {
    super(message);
    this.code = code;
  }
}
