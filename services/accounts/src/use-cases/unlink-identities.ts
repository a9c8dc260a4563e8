import type { AccountsDependencies } from "../dependencies.ts";
import { deleteIdentitiesOf } from "../storage/identities.ts";
import { lockPerson } from "../storage/people.ts";
import { deleteSessionsOf } from "../storage/sessions.ts";
import { deleteUnusedLinksOf } from "../storage/sign-in-links.ts";
import { recordForBrands } from "./audit.ts";
import { requireMemberships } from "./sign-in-links.ts";

/**
 * Unbinds a person's identities, such as after the person's account at the provider was replaced, and returns how many there were. The
 * old account may be another human's: its sessions end, and links that were made for it sign no one in.
 *
 * @throws AppError `no_membership`
 */
export function unlinkIdentities({ db }: Pick<AccountsDependencies, "db">, email: string, requestId: string): Promise<number> {
  return db.transaction(async (sql) => {
    await lockPerson(sql, email);
    const memberships = await requireMemberships(sql, email);
    const unlinked = await deleteIdentitiesOf(sql, email);
    if (unlinked === 0) return 0;
    await deleteUnusedLinksOf(sql, email, null);
    await deleteSessionsOf(sql, email);
    await recordForBrands(sql, memberships, { action: "identity.unlink", subject: email, requestId });
    return unlinked;
  });
}
