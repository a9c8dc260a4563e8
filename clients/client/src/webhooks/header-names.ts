/** Word in the names of the service's own headers, `X-Service-Signature`: a setting of the installation. */
export const HEADER_WORD = "Service";

/** The names of a delivery's headers, as they are sent. */
export const headerNames = (word: string) =>
  ({
    type: `X-${word}-Event`,
    timestamp: `X-${word}-Timestamp`,
    signature: `X-${word}-Signature`,
    attempt: `X-${word}-Attempt`,
    standardId: "webhook-id",
    standardTimestamp: "webhook-timestamp",
    standardSignature: "webhook-signature",
  }) as const;
