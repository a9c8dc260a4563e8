export { GRANT_AUDIENCES, GRANT_SECONDS, type Grant, type GrantAudience } from "./grant.ts";
export { grantKeyFrom, signGrant, type GrantKey } from "./sign-grant.ts";
export { verifyGrant, type FindKey } from "./verify-grant.ts";
