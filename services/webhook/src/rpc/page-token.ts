import { createHash } from "node:crypto";
import { AppError } from "@brand-records/errors";
import { z } from "zod";
import type { EventPosition } from "../domain/event.ts";
import { fields } from "./fields.ts";

const VERSION = 1;

/** Brand and filters of a list. A token continues only the list that it came from. */
type Scope = readonly (string | null)[];

const Token = z.tuple([z.literal(VERSION), fields.time, fields.eventId, z.string()]);

/** Returns the opaque token of the page after this position. */
export function pageTokenOf({ created_at, id }: EventPosition, scope: Scope): string {
  return Buffer.from(JSON.stringify([VERSION, created_at, id, digestOf(scope)])).toString("base64url");
}

/**
 * Returns the position of a token, null without one.
 *
 * @throws AppError `invalid_cursor` if it is malformed, or of another brand or with other filters
 */
export function readPageToken(token: string | null | undefined, scope: Scope): EventPosition | null {
  if (token == null) return null;
  const read = Token.safeParse(parsedJson(Buffer.from(token, "base64url").toString()));
  if (!read.success || read.data[3] !== digestOf(scope)) {
    throw new AppError("invalid_cursor", "page_token is not one of this list with these filters. Start again without it.", {
      field: "page_token",
    });
  }
  const [, created_at, id] = read.data;
  return { created_at, id };
}

const digestOf = (scope: Scope): string => createHash("sha256").update(JSON.stringify(scope)).digest("base64url").slice(0, 16);

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
