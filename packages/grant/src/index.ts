export { FRESH_GRANT_SECONDS, GRANT_AUDIENCES, GRANT_SECONDS, type Grant, type GrantAudience } from "./grant.ts";
export { signingKeyFrom, signGrant, type SigningKey } from "./sign-grant.ts";
export { publicKeyFrom, verifyGrant, type FindKey, type Verification } from "./verify-grant.ts";
