import { integer } from "../../operations/json-schema.ts";

/** Headers of answers, as OpenAPI describes them. */
export const headers = {
  RequestId: {
    description: "Identifies the request; the caller's X-Request-Id when it is sane. Quote it to us.",
    schema: { type: "string" },
  },
  RateLimitPolicy: {
    description: "The brand's limit (q) in a window of so many seconds (w).",
    schema: { type: "string" },
    example: '"brand";q=60;w=60',
  },
  RateLimit: {
    description:
      "Requests left (r), and the seconds until the oldest one counted leaves the window (t); when refused, until the next is accepted.",
    schema: { type: "string" },
    example: '"brand";r=59;t=60',
  },
  RetryAfter: { description: "Whole seconds to wait.", schema: integer({ minimum: 1 }) },
  WwwAuthenticate: { description: "The scheme to use.", schema: { type: "string" }, example: 'Bearer realm="Brand Records API"' },
};

/** Where a header is described. */
export const headerRef = (name: keyof typeof headers) => ({ $ref: `#/components/headers/${name}` });
/** On every answer to a key that was accepted and counted. */
export const RESPONSE_HEADERS = {
  "X-Request-Id": headerRef("RequestId"),
  "RateLimit-Policy": headerRef("RateLimitPolicy"),
  RateLimit: headerRef("RateLimit"),
};
