import { parseRequest } from "@brand-records/errors";
import type { SignInServiceService, SignInWithIdentityRequest } from "@brand-records/proto/accounts/v1";
import type { Handlers } from "@brand-records/rpc";
import { Counter, type Registry } from "@brand-records/telemetry";
import { z } from "zod";
import type { AccountsDependencies } from "../dependencies.ts";
import { IdTokenRefused } from "../domain/sign-in.ts";
import type { IdentitySignIn } from "../id-tokens/identify.ts";
import { createOwnersLink, createSignInLink, peekSignInLink, redeemSignInLink } from "../use-cases/sign-in-links.ts";
import { signInWithIdentity, unlinkIdentities } from "../use-cases/sign-in-with-identity.ts";
import { entryOf, fields } from "./fields.ts";

type SignInDependencies = Pick<AccountsDependencies, "db" | "sessionLimits" | "countSignIn" | "identify" | "log">;

export function signInHandlers(deps: SignInDependencies): Handlers<SignInServiceService> {
  return {
    async createSignInLink(request, call) {
      const { email, ttl_seconds } = parseRequest({ email: fields.email, ttl_seconds: fields.linkTtl }, request);
      const link = { email, ttlSeconds: ttl_seconds, entry: entryOf(call, {}) };
      if (request.brand_id == null && request.acting_member == null) return createSignInLink(deps, link);
      const { brand_id, acting_member } = parseRequest(ownersLinkFields, request);
      return createOwnersLink(deps, link, { brandId: brand_id, madeBy: acting_member });
    },
    async peekSignInLink(request, call) {
      const { email, expires_at, brand_name } = await peekSignInLink(deps, request.token, entryOf(call, request));
      return { email, expires_at, brand_name };
    },
    async redeemSignInLink(request, call) {
      return { session: await redeemSignInLink(deps, request.token, entryOf(call, request)) };
    },
    async signInWithIdentity(request, call) {
      return { session: await signInWithIdentity(deps, () => identify(deps, request), normalizeEmail, entryOf(call, request)) };
    },
    async unlinkIdentities(request, call) {
      const { email } = parseRequest({ email: fields.email }, request);
      return { unlinked: await unlinkIdentities(deps, email, entryOf(call, {})) };
    },
  };
}

/** Returns the identity that the request's ID token proves. */
async function identify(deps: SignInDependencies, request: SignInWithIdentityRequest): Promise<IdentitySignIn> {
  const { id_token: idToken, nonce, access_token } = request;
  if (idToken === "") throw new IdTokenRefused("absent");
  const proved = await deps.identify({ idToken, nonce, accessToken: access_token ?? undefined });
  return { ...proved, ...parseRequest({ issuer: fields.issuer, subject: fields.subject }, proved) };
}

const ownersLinkFields = { brand_id: fields.brandId, acting_member: fields.email };

const normalizeEmail = (email: string): string | undefined => z.safeParse(fields.email, email).data;

/** Counts tries to sign in: those that no audit log has, of unknown links, too. */
export function signInCounter(metrics: Registry): AccountsDependencies["countSignIn"] {
  const tries = new Counter({
    name: "sign_ins_total",
    help: "Tries to sign in.",
    labelNames: ["by", "outcome"],
    registers: [metrics],
  });
  return (by, outcome) => tries.inc({ by, outcome });
}
