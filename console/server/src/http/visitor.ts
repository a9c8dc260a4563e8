import type { Request, Response } from "express";
import type { Visitor } from "../operations/operation.ts";
import type { CallDependencies } from "./call-dependencies.ts";
import { clientOf } from "./client.ts";
import { contextOf } from "./request-context.ts";
import { sessionCookie } from "./session-cookie.ts";

/** Returns who sends a request, as far as that is known without a look-up. */
export function visitorOf({ config, provider, providerSignOut }: CallDependencies, request: Request, response: Response): Visitor {
  const call = contextOf(response);
  const cookie = sessionCookie(config.PUBLIC_URL);
  return {
    call,
    address: call.address,
    client: () => clientOf(request, call.address),
    config,
    provider,
    sessionToken: cookie.read(request),
    startSession: (token) => cookie.set(response, token),
    endSession: () => cookie.clear(response),
    providerSignOutLocation: async (token) => (await providerSignOut?.locationFor(request, response, token, call)) ?? null,
  };
}
