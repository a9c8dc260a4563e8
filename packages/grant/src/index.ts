export { GRANT_AUDIENCES, GRANT_SECONDS, type Grant, type GrantAudience } from "./grant.ts";
export { signingKeyFrom, signGrant, type SigningKey } from "./sign-grant.ts";
export { publicKeyFrom, verifyGrant, type FindKey } from "./verify-grant.ts";
