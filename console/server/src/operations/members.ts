import type { Member } from "@brand-records/console-contract";
import type { Member as MemberMessage } from "@brand-records/proto/accounts/v1";
import type { BrandHandler } from "./operation.ts";
import { LINK_HOURS, requireLinks } from "./session.ts";

export const listMembers: BrandHandler<"members.list"> = {
  async run({ accounts }, { call }, input) {
    const { members, next_page_token } = await accounts.listMembers(input, call);
    return { members: members.map(toMember), next_page_token: next_page_token ?? null };
  },
};

export const addMember: BrandHandler<"members.add"> = {
  audit: { action: "member.add", subject: ({ email }) => email, fields: () => ["role"], role: ({ role }) => role },
  async run({ accounts }, { call, person }, input) {
    const { member } = await accounts.addMember({ ...input, acting_member: person.email, only_new: true }, call);
    return { member: toMember(member) };
  },
};

export const setMemberRole: BrandHandler<"members.set_role"> = {
  audit: { action: "member.set_role", subject: ({ email }) => email, fields: () => ["role"], role: ({ role }) => role },
  async run({ accounts }, { call, person }, input) {
    const { member } = await accounts.setMemberRole({ ...input, acting_member: person.email }, call);
    return { member: toMember(member) };
  },
};

export const removeMember: BrandHandler<"members.remove"> = {
  audit: { action: "member.remove", subject: ({ email }) => email },
  async run({ accounts }, { call, person }, input) {
    await accounts.removeMember({ ...input, acting_member: person.email }, call);
    return {};
  },
};

/** The actor of the entry is who leaves. */
export const leaveBrand: BrandHandler<"members.leave"> = {
  audit: { action: "member.leave" },
  async run({ accounts }, { call, person: { email } }, { brand_id }) {
    await accounts.removeMember({ brand_id, email, acting_member: email }, call);
    return {};
  },
};

/** Has no `audit`: accounts writes the entry in the transaction that makes the link. */
export const linkMember: BrandHandler<"members.link"> = {
  async run({ signIn }, { call, person, address, config }, input) {
    requireLinks(config);
    const acting = { acting_member: person.email, via: person.via, address: address || null };
    const request = { ...input, ttl_seconds: LINK_HOURS * 3_600, ...acting };
    const { token, expires_at } = await signIn.createSignInLink(request, call);
    // Browsers do not send the fragment, so the token reaches no log.
    return { url: `${new URL(config.PUBLIC_URL).origin}/sign-in#${token}`, expires_at };
  },
};

function toMember(member: MemberMessage | null | undefined): Member {
  if (member == null) throw new Error("accounts returned no member");
  const { email, role, created_at } = member;
  return { email, role: role === "owner" ? "owner" : "member", created_at };
}
