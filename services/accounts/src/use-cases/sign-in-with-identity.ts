import { AppError } from "@brand-records/errors";
import type { Database } from "@brand-records/postgres";
import type { PlannedEntry } from "@brand-records/rpc";
import type { NewSession } from "@brand-records/proto/accounts/v1";
import type { AccountsDependencies } from "../dependencies.ts";
import { type Identity, identityConflict, IdTokenRefused, verifiedEmail } from "../domain/sign-in.ts";
import type { IdentitySignIn } from "../id-tokens/identify.ts";
import { bindIdentity, deleteIdentitiesOf, findBoundEmail, useIdToken } from "../storage/identities.ts";
import { brandsToldOf, openedBrandsOf } from "../storage/members.ts";
import { lockPerson } from "../storage/people.ts";
import { deleteSessionsOf } from "../storage/sessions.ts";
import { deleteUnusedLinksOf } from "../storage/sign-in-links.ts";
import { notRecorded, recordForBrands } from "./audit.ts";
import { openSession } from "./sessions.ts";
import { requireMemberships } from "./sign-in-links.ts";

/**
 * Creates a session for the person behind an identity. Binds an unbound identity to the person with its verified address: from then
 * on the identity counts, whatever address the provider sends. A brand's audit log tells of the session when it opens that brand; of a
 * refusal, if the person is known and has ever opened it. An ID token makes one session.
 *
 * @param identify verifies the identity; asks the provider, outside the transaction
 * @param normalizeEmail returns the address as members have it; undefined for what cannot be a member's
 * @throws AppError `email_not_verified`, `no_membership`, `identity_conflict`, `unavailable`, and what `identify` throws
 * @throws IdTokenRefused
 */
export async function signInWithIdentity(
  { db, sessionLimits, countSignIn, log }: Pick<AccountsDependencies, "db" | "sessionLimits" | "countSignIn" | "log">,
  identify: () => Promise<IdentitySignIn>,
  normalizeEmail: (email: string) => string | undefined,
  attempt: PlannedEntry,
): Promise<NewSession> {
  try {
    const signIn = await identify();
    const boundEmail = await findBoundEmail(db, signIn);
    const email = boundEmail ?? normalizeEmail(verifiedEmail(await signIn.readEmail())) ?? "";
    const session = await db.transaction(async (sql) => {
      await lockPerson(sql, email);
      if (!(await useIdToken(sql, signIn.idTokenUse))) throw new IdTokenRefused("used before");
      await requireMemberships(sql, email);
      if (boundEmail === undefined) await bindIdentity(sql, signIn, email);
      // Read again: another identity may be bound to the person, or this identity to another person since the look-up.
      const isBound = (await findBoundEmail(sql, signIn)) === email;
      if (!isBound && boundEmail !== undefined)
        throw new AppError("unavailable", "Your account of the sign-in provider was unlinked at the same moment. Sign in again.");
      if (!isBound) return undefined;
      return openSession(sql, { email, issuer: signIn.issuer, scope: null }, sessionLimits);
    });
    if (session === undefined) {
      await recordConflict(db, signIn, email, attempt).catch(notRecorded(log, attempt));
      throw identityConflict();
    }
    countSignIn("provider", "done");
    return session;
  } catch (error) {
    if (error instanceof AppError) countSignIn("provider", error.kind);
    if (error instanceof IdTokenRefused) log.warn({ request_id: attempt.request_id, check: error.check }, "ID token refused");
    throw error;
  }
}

const entryOf = (email: string, attempt: PlannedEntry): PlannedEntry => ({ ...attempt, subject_id: email, actor: email });

/** Writes one entry for each account at the provider and day, which counts. */
async function recordConflict(db: Database, { issuer, subject }: Identity, email: string, attempt: PlannedEntry): Promise<void> {
  const refusal = { kind: "identity_conflict", key: [issuer, subject, email].join(" ") };
  await recordForBrands(db, await openedBrandsOf(db, email), entryOf(email, attempt), refusal);
}

/**
 * Unbinds a person's identities, such as after the person's account at the provider was replaced, and returns how many there were. The
 * old account may be another human's: its sessions end, and links that were made for it sign no one in.
 *
 * @throws AppError `no_membership`
 */
export function unlinkIdentities({ db }: Pick<AccountsDependencies, "db">, email: string, entry: PlannedEntry): Promise<number> {
  return db.transaction(async (sql) => {
    await lockPerson(sql, email);
    await requireMemberships(sql, email);
    const unlinked = await deleteIdentitiesOf(sql, email);
    if (unlinked === 0) return 0;
    await deleteUnusedLinksOf(sql, email, null);
    await deleteSessionsOf(sql, email);
    await recordForBrands(sql, await brandsToldOf(sql, email), entry);
    return unlinked;
  });
}
