import type { Handlers } from "./operation.ts";
import { LINK_HOURS, requireLinks } from "./session.ts";

export const MEMBERS: Handlers<"members"> = {
  "members.list": {
    run: ({ accounts }, { call }, input) => accounts.listMembers(input, call),
  },
  "members.add": {
    audit: { action: "member.add", subject: ({ email }) => email, fields: () => ["role"], role: ({ role }) => role },
    run: ({ accounts }, { call, person }, input) => accounts.addMember({ ...input, acting_member: person.email, only_new: true }, call),
  },
  "members.set_role": {
    audit: { action: "member.set_role", subject: ({ email }) => email, fields: () => ["role"], role: ({ role }) => role },
    run: ({ accounts }, { call, person }, input) => accounts.setMemberRole({ ...input, acting_member: person.email }, call),
  },
  "members.remove": {
    audit: { action: "member.remove", subject: ({ email }) => email },
    run: ({ accounts }, { call, person }, input) => accounts.removeMember({ ...input, acting_member: person.email }, call),
  },
  /** The actor of the entry is who leaves. */
  "members.leave": {
    audit: { action: "member.leave" },
    run: ({ accounts }, { call, person: { email } }, input) => accounts.removeMember({ ...input, email, acting_member: email }, call),
  },
  /** Has no `audit`: accounts writes the entry in the transaction that makes the link. */
  "members.link": {
    async run({ signIn }, { call, person, address, config }, input) {
      requireLinks(config);
      const acting = { acting_member: person.email, via: person.via, address: address || null };
      const { token, expires_at } = await signIn.createSignInLink({ ...input, ttl_seconds: LINK_HOURS * 3_600, ...acting }, call);
      // Browsers do not send the fragment, so the token reaches no log.
      return { url: `${new URL(config.PUBLIC_URL).origin}/sign-in#${token}`, expires_at };
    },
  },
};
