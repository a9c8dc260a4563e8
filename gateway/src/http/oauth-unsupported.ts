import { AppError } from "@brand-records/errors";
import type { RequestHandler } from "express";
import { errorObject } from "@brand-records/edge";
import { errorHeaders } from "./errors.ts";
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

const DESCRIPTION =
  "This server has no OAuth. It takes a brand API key, sent as Authorization: Bearer <API_KEY>; owners create keys in the Developers area.";

/**
 * Responds, without a key, with JSON that OAuth clients show: a page or a 401 here would send them looking for a
 * sign-in that does not exist.
 *
 * @see https://www.rfc-editor.org/rfc/rfc7591#section-3.2.2 for `error_description`
 */
export const oauthUnsupported: RequestHandler = (_request, response) => {
  const context = contextOf(response);
  const error = new AppError("not_found", DESCRIPTION);
  context.route = "oauth";
  context.errorKind = error.kind;
  response.set(errorHeaders(error));
  send(response, 404, JSON.stringify({ error: errorObject(error, context.requestId), error_description: DESCRIPTION }));
};
