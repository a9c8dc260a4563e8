import { AppError } from "@brand-records/errors";
import { newId } from "@brand-records/ids";

/** Returns what takes the place of an erased person's address: `erased_` and 26 characters, which the address has no part in. */
export const newPseudonym = (): string => newId("erased");

export const isPseudonym = (text: string): boolean => /^erased_[0-9a-z]{26}$/.test(text);

export const stillAMember = (): AppError =>
  new AppError("still_a_member", "This person is a member of a brand. Remove the person from every brand first.", { field: "email" });

/** A request from before the removal of the person may still write the address. */
export const notSettled = (settlesInMs: number): AppError =>
  new AppError("request_conflict", "Requests from before the person's removal may still be in progress", {
    field: "email",
    retryAfterSeconds: Math.ceil(settlesInMs / 1_000),
  });

export const noErasure = (): AppError =>
  new AppError("not_found", "No erasure of this person has begun, or it has ended.", { field: "email" });

/** What is kept about a person, in the order of an export. */
export const EXPORT_SECTIONS = ["memberships", "sessions", "sign_in_links", "identities", "keys", "audit_entries", "erasures"] as const;
export type ExportSection = (typeof EXPORT_SECTIONS)[number];
