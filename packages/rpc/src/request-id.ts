import { randomUUID } from "node:crypto";

const SANE = /^[A-Za-z0-9._:-]{1,128}$/;

/** What must not be sent on as an id, because ids appear in responses, logs and spans. */
const SECRETS = [
  // API keys, and the signing secrets of receivers.
  /brk_|whsec_/,
  // Signed and encrypted tokens of providers (JWT): base64url of `{"…`, and two or four dots.
  /eyJ[\w-]*\.[\w-]*\./,
  // Tokens of sessions and sign-in links have no prefix: base64url of 32 bytes, whose last character encodes four bits. Without capital or
  // small letters it is not random: callers' own ids of this length pass.
  /(?<![\w-])(?=[\w-]*[a-z])(?=[\w-]*[A-Z])[\w-]{42}[AEIMQUYcgkosw048](?![\w-])/,
];

/** Returns the id that a caller gives its request, if it is sane and holds no secret sent in the wrong header; otherwise a new one. */
export function requestIdFrom(given: unknown): string {
  const isSane = typeof given === "string" && SANE.test(given) && !SECRETS.some((secret) => secret.test(given));
  return isSane ? given : randomUUID();
}
