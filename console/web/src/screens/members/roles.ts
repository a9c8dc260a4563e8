import type { Member } from "@brand-records/console-contract";

const ROLES: Readonly<Record<Member["role"], string>> = { owner: "Owner", member: "Member" };

export const roleText = (role: Member["role"]): string => ROLES[role];

/** What a role lets a person do. */
export const ROLE_MEANINGS: Readonly<Record<Member["role"], string>> = {
  owner: "Creates and revokes keys, changes receivers, sends events again, adds and removes members, reads the audit log.",
  member: "Sees keys, receivers, deliveries, events and usage, and works on campaign plans.",
};
