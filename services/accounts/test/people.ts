import { createHash } from "node:crypto";
import { newId } from "@brand-records/ids";
import { type ServedAccounts, type TestBrand } from "./serve-accounts.ts";

/** Signs people in, and moves their sessions and links back in time. */
export function peopleOf(served: ServedAccounts) {
  const hashOf = (token: string): Buffer => createHash("sha256").update(Buffer.from(token, "base64url")).digest();
  const addMember = ({ id }: TestBrand, email: string, role = "member") => served.accounts.addMember({ brand_id: id, email, role });
  return {
    hashOf,
    addMember,
    removeMember: ({ id }: TestBrand, email: string) => served.accounts.removeMember({ brand_id: id, email }),
    /** A member of a new brand. */
    async newPerson(): Promise<{ brand: TestBrand; email: string }> {
      const brand = await served.createBrand();
      const email = `ana@${newId("x").slice(2)}.example`;
      await addMember(brand, email);
      return { brand, email };
    },
    link: async (email: string): Promise<string> => (await served.signIn.createSignInLink({ email, ttl_seconds: 0 })).token,
    peek: (token: string) => served.signIn.peekSignInLink({ token }),
    redeem: async (token: string) => (await served.signIn.redeemSignInLink({ token })).session,
    get: (token: string) => served.sessions.getSession({ token }),
    end: (token: string) => served.sessions.endSession({ token }),
    /** Returns the token of a new session. */
    async session(email: string): Promise<string> {
      const { token } = await served.signIn.createSignInLink({ email, ttl_seconds: 0 });
      return (await served.signIn.redeemSignInLink({ token })).session?.token ?? "";
    },
    /** Moves a column of the row with this token. */
    moveBack: (table: "sessions" | "sign_in_links", column: string, token: string, seconds: number) =>
      served.db.query(`update accounts.${table} set ${column} = ${column} - make_interval(secs => $2) where token_hash = $1`, [
        hashOf(token),
        seconds,
      ]),
  };
}
