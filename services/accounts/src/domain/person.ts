import { hash } from "node:crypto";
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
type ExportSection = (typeof EXPORT_SECTIONS)[number];

/** Where an export continues: after a record of a section, or at a section's beginning. */
export interface ExportPosition {
  readonly section: ExportSection;
  readonly after: { readonly createdAt: string; readonly id: string } | undefined;
}

export const EXPORT_BEGINNING: ExportPosition = { section: EXPORT_SECTIONS[0], after: undefined };

const TOKEN = /^1 ([0-9a-f]{16}) ([a-z_]+)(?: (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z) (\S+))?$/;

/** Returns an opaque token to continue at a position, for the same person only. */
export function exportToken(email: string, { section, after }: ExportPosition): string {
  const position = after === undefined ? [section] : [section, after.createdAt, after.id];
  return Buffer.from(["1", digestOf(email), ...position].join(" ")).toString("base64url");
}

/** @throws AppError `invalid_cursor` for a token of another person, and for any other text */
export function exportPositionOf(email: string, token: string): ExportPosition {
  const [, digest, name, createdAt, id] = TOKEN.exec(Buffer.from(token, "base64url").toString()) ?? [];
  const section = EXPORT_SECTIONS.find((one) => one === name);
  if (digest !== digestOf(email) || section === undefined) {
    throw new AppError("invalid_cursor", "page_token is not one of this person. Start again without it.", { field: "page_token" });
  }
  return { section, after: createdAt === undefined || id === undefined ? undefined : { createdAt, id } };
}

const digestOf = (email: string): string => hash("sha256", email).slice(0, 16);
