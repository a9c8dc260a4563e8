import type { RequestHandler } from "express";
import { contextOf } from "./request-context.ts";
import { send } from "./responses.ts";

/** Paths, with everything below them, where refused clients look for a way to sign in. */
export const OAUTH_PATHS = [
  "/.well-known/oauth-protected-resource",
  "/.well-known/oauth-authorization-server",
  "/.well-known/openid-configuration",
  "/register",
  "/authorize",
  "/token",
];

/** Clients show it in place of the 401 that made them look for a sign-in. */
const DESCRIPTION =
  "This server has no OAuth. It takes a brand API key, sent as Authorization: Bearer <API_KEY>. If you sent one, it is not valid here: check that it is complete, and of this environment. Owners create and replace keys in the Developers area.";
const BODY = JSON.stringify({ error: "invalid_request", error_description: DESCRIPTION });

/**
 * Responds, without a key, with the error that OAuth clients read: a page or a 401 here would send them looking for a
 * sign-in that does not exist.
 *
 * @see https://www.rfc-editor.org/rfc/rfc6749#section-5.2
 */
export const oauthUnsupported: RequestHandler = (_request, response) => {
  const context = contextOf(response);
  context.route = "oauth";
  context.errorKind = "not_found";
  response.set("Cache-Control", "private, no-store");
  send(response, 404, BODY);
};
