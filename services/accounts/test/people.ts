import { createHash } from "node:crypto";
import { newId } from "@brand-records/ids";
import type { Client, ExportPersonResponse } from "@brand-records/proto/accounts/v1";
import type { ServedAccounts, TestBrand } from "./serve-accounts.ts";

type ExportedPerson = Omit<ExportPersonResponse, "next_page_token">;

/** Signs people in, and moves their sessions and links back in time. */
export function peopleOf(served: ServedAccounts) {
  const hashOf = (token: string): Buffer => createHash("sha256").update(Buffer.from(token, "base64url")).digest();
  const addMember = ({ id }: TestBrand, email: string, role = "member") => served.accounts.addMember({ brand_id: id, email, role });
  const link = async (email: string): Promise<string> => (await served.signIn.createSignInLink({ email, ttl_seconds: 0 })).token;
  const redeem = async (token: string) => (await served.signIn.redeemSignInLink({ token })).session;
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
    link,
    /** Returns the token of a link that an owner makes. */
    ownersLink: async (brand: TestBrand, email: string, acting_member = brand.owner): Promise<string> => {
      const request = { email, ttl_seconds: 86_400, brand_id: brand.id, acting_member };
      return (await served.signIn.createSignInLink(request)).token;
    },
    peek: (token: string) => served.signIn.peekSignInLink({ token }),
    redeem,
    /** Returns the token of the session that a link opens. */
    open: async (token: string): Promise<string> => (await redeem(token))?.token ?? "",
    get: (token: string) => served.sessions.getSession({ token }),
    grants: async (token: string, { id }: TestBrand, client?: Client) =>
      (await served.sessions.getSession({ token, with_grants: true, brand_id: id, client })).grants,
    end: (token: string) => served.sessions.endSession({ token }),
    /** Returns the token of a new session. */
    session: async (email: string): Promise<string> => (await redeem(await link(email)))?.token ?? "",
    /** Returns how many sessions a person has. */
    sessionsOf: async (email: string): Promise<number> =>
      (await served.db.query("select from accounts.sessions where email = $1", [email])).length,
    /** Returns all that is kept about a person. */
    async exported(email: string, page_size = 1_000): Promise<ExportedPerson> {
      const all = {} as ExportedPerson;
      for (let page_token: string | null | undefined; ;) {
        const { next_page_token, ...page } = await served.operator.exportPerson({ email, page_size, page_token });
        for (const [name, records] of Object.entries(page)) ((all as Record<string, unknown[]>)[name] ??= []).push(...records);
        page_token = next_page_token;
        if (page_token == null) return all;
      }
    },
    /** Erases a former member, as an operator does when the erasure has settled. Returns the pseudonym. */
    async erase(email: string, brand_ids: string[] = []): Promise<string> {
      const { pseudonym } = await served.operator.beginErasure({ email });
      await served.db.query("update accounts.erasures set begun_at = begun_at - interval '35 s' where email = $1", [email]);
      await served.operator.erasePerson({ email, brand_ids });
      return pseudonym;
    },
    /** Moves a column of the row with this token. */
    moveBack: (table: "sessions" | "sign_in_links", column: string, token: string, seconds: number) =>
      served.db.query(`update accounts.${table} set ${column} = ${column} - make_interval(secs => $2) where token_hash = $1`, [
        hashOf(token),
        seconds,
      ]),
  };
}
