import type { SignInServiceService } from "@brand-records/proto/accounts/v1";
import type { Handlers } from "@brand-records/rpc";
import { check } from "@brand-records/service";
import { z } from "zod";
import type { AccountsDependencies } from "../dependencies.ts";
import { createSignInLink, peekSignInLink, redeemSignInLink } from "../use-cases/sign-in-links.ts";
import { signInWithIdentity } from "../use-cases/sign-in-with-identity.ts";
import { unlinkIdentities } from "../use-cases/unlink-identities.ts";
import { fields } from "./fields.ts";

export function signInHandlers(deps: Pick<AccountsDependencies, "db" | "sessionLimits">): Handlers<SignInServiceService> {
  return {
    async createSignInLink(request, { requestId }) {
      const { email, ttl_seconds } = check({ email: fields.email, ttl_seconds: fields.linkTtl }, request);
      return createSignInLink(deps, { email, ttlSeconds: ttl_seconds }, requestId);
    },
    async peekSignInLink({ token }) {
      const { email, expires_at } = await peekSignInLink(deps, token);
      return { email, expires_at };
    },
    async redeemSignInLink({ token }) {
      return { session: await redeemSignInLink(deps, token) };
    },
    async signInWithIdentity(request) {
      const { issuer, subject } = check({ issuer: fields.issuer, subject: fields.subject }, request);
      const { email, email_verified, trust_email } = request;
      const signIn = { issuer, subject, email, emailVerified: email_verified, trustEmail: trust_email };
      return { session: await signInWithIdentity(deps, signIn, normalizeEmail) };
    },
    async unlinkIdentities(request, { requestId }) {
      const { email } = check({ email: fields.email }, request);
      return { unlinked: await unlinkIdentities(deps, email, requestId) };
    },
  };
}

const normalizeEmail = (email: string): string | undefined => z.safeParse(fields.email, email).data;
