import { WINDOW_SECONDS } from "../../limits/rate-limiter.ts";
import { integer } from "../../operations/json-schema.ts";

/** Response headers, as OpenAPI describes them. */
export const headers = {
  RequestId: {
    description: "Identifies the request: the caller's X-Request-Id if it is valid, else a new one. Quote it to support.",
    schema: { type: "string" },
  },
  BrandId: {
    description: "The brand whose key was sent. After replacing a key, check it: it must be the brand that you expect.",
    schema: { type: "string" },
    example: "brd_01k1sem520ecxthczqg3ryfxme",
  },
  RateLimitPolicy: {
    description: "The brand's limit of requests (q) in a window of seconds (w).",
    schema: { type: "string" },
    example: `"brand";q=60;w=${WINDOW_SECONDS}`,
  },
  RateLimit: {
    description:
      "Requests left (r), and the seconds until the oldest counted request leaves the window (t); after a refusal, until the next request is accepted.",
    schema: { type: "string" },
    example: '"brand";r=59;t=60',
  },
  RetryAfter: { description: "Whole seconds to wait.", schema: integer({ minimum: 1 }) },
  Allow: { description: "The methods that the path has.", schema: { type: "string" }, example: "GET, HEAD" },
  WwwAuthenticate: { description: "The scheme to use.", schema: { type: "string" }, example: 'Bearer realm="Brand Records API"' },
};

/** A reference to a header's description. */
export const headerRef = (name: keyof typeof headers) => ({ $ref: `#/components/headers/${name}` });
/** The headers of every response to a key that was accepted and counted. */
export const RESPONSE_HEADERS = {
  "X-Request-Id": headerRef("RequestId"),
  "X-Brand-Id": headerRef("BrandId"),
  "RateLimit-Policy": headerRef("RateLimitPolicy"),
  RateLimit: headerRef("RateLimit"),
};
