import { AppError } from "@brand-records/errors";
import type { ServerErrors } from "@brand-records/rpc";
import type { Logger } from "@brand-records/telemetry";
import { Router, type Request, type RequestHandler, type Response } from "express";
import type { ConsoleConfig } from "../config.ts";
import { CallLimit } from "../http/call-limits.ts";
import { visitorOf } from "../http/visitor.ts";
import { only, onlyNavigations, onPublicHost } from "../http/request-checks.ts";
import { contextOf } from "../http/request-context.ts";
import type { Services } from "../services.ts";
import { replaceSession } from "../sessions.ts";
import { openAttempts } from "./attempts.ts";
import { diagnose, SignInError } from "./failures.ts";
import type { ProviderSignOut } from "./provider-sign-out.ts";
import type { ProviderTokens, SignInProvider } from "./provider.ts";

interface SignInDependencies {
  readonly config: ConsoleConfig;
  readonly services: Services;
  readonly log: Logger;
  readonly provider: SignInProvider;
  readonly providerSignOut: ProviderSignOut;
  readonly serverErrors: ServerErrors;
}

/**
 * Serves `GET /auth/sign-in`, which leads to the provider, and `GET /auth/callback`, to which the provider leads back. People open them
 * in the address bar, so that every failure ends on the page `/sign-in`.
 */
export function serveSignIn(deps: SignInDependencies): Router {
  const { config, log, provider, serverErrors } = deps;
  // Other sites can open /auth/sign-in in a tab of theirs, again and again. They use up neither what people begin here, nor what they finish.
  const limit = (): CallLimit => new CallLimit(config.SIGN_INS_PER_ADDRESS);
  const [begunHere, begunElsewhere, finishedHere, finishedElsewhere] = [limit(), limit(), limit(), limit()];
  const attempts = openAttempts(config.PUBLIC_URL, config.OIDC_CLIENT_SECRET ?? "");
  const router = Router({ caseSensitive: true });

  /** @param step returns where the browser goes next; it names early where it goes in the end, so that a failure keeps that */
  const redirect =
    (path: string, step: (request: Request, response: Response, keep: (returnTo: string) => void) => Promise<string>): RequestHandler =>
    async (request, response) => {
      const context = contextOf(response);
      context.route = `/auth${path}`;
      response.setHeader("Cache-Control", "no-store");
      // The address holds a code.
      response.setHeader("Referrer-Policy", "no-referrer");
      const query = new URLSearchParams();
      try {
        response.redirect(303, await step(request, response, (returnTo) => query.set("return_to", returnTo)));
      } catch (error) {
        const { failure, fields } = diagnose(error);
        const ours = failure === "unavailable" ? serverErrors.count(AppError.from(error)) : undefined;
        context.errorKind = failure;
        log.warn({ ...fields, ...ours, failure, request_id: context.requestId }, "sign-in failed");
        query.set("error", failure);
        query.set("request_id", context.requestId);
        response.redirect(303, `/sign-in?${query.toString()}`);
      }
    };
  const checks = [only("GET"), onlyNavigations, onPublicHost(config.PUBLIC_URL)];

  const begin = redirect("/sign-in", async (request, response, keep) => {
    const isHere = ["same-origin", "none"].includes(request.get("sec-fetch-site") ?? "");
    (isHere ? begunHere : begunElsewhere).spend(contextOf(response).network);
    const parameters = parametersOf(request);
    const attempt = await attempts.begin(request, response, { returnTo: parameters.get("return_to"), isHere });
    keep(attempt.returnTo);
    return (await provider.authorizationUrl(attempt, parameters.get("account") === "other")).href;
  });
  const finish = redirect("/callback", async (request, response, keep) => {
    const parameters = parametersOf(request);
    const [state = "", ...others] = parameters.getAll("state");
    const taken = others.length > 0 ? undefined : await attempts.take(request, response, state);
    if (taken === undefined) throw new SignInError("attempt_unknown");
    keep(taken.attempt.returnTo);
    (taken.attempt.isHere ? finishedHere : finishedElsewhere).spend(contextOf(response).network);
    if (taken.isExpired) throw new SignInError("attempt_expired");
    await openSession(deps, request, response, await provider.exchangeCode(parameters, taken.attempt), taken.attempt.nonce);
    return taken.attempt.returnTo;
  });
  router.all("/sign-in", checks, begin);
  router.all("/callback", checks, finish);
  return router;
}

async function openSession(
  deps: SignInDependencies,
  request: Request,
  response: Response,
  { idToken, accessToken }: ProviderTokens,
  nonce: string,
): Promise<void> {
  const { services, providerSignOut } = deps;
  const visitor = visitorOf(deps, request, response);
  const proof = { id_token: idToken, nonce, access_token: accessToken };
  const { session } = await services.signIn.signInWithIdentity({ ...proof, client: visitor.client() }, visitor.call);
  if (session == null) throw new Error("signInWithIdentity returned no session");
  await replaceSession(services, visitor, session.token);
  await providerSignOut.keep(response, session.token, idToken);
}

const parametersOf = ({ originalUrl }: Request): URLSearchParams => new URL(originalUrl, "http://console.invalid").searchParams;
