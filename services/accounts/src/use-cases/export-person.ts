import type { ExportPersonResponse } from "@brand-records/proto/accounts/v1";
import type { Sql } from "@brand-records/postgres";
import { EXPORT_BEGINNING, EXPORT_SECTIONS, exportPositionOf, exportToken, type ExportPosition } from "../domain/person-export.ts";
import { pageOfPersonRecords } from "../storage/person-records.ts";

/**
 * Returns a page of what is kept about a person: records of one section. Complete, whatever is written meanwhile: what is there at the
 * beginning and remains is in one of the pages.
 *
 * @throws AppError `invalid_cursor`
 */
export async function exportPerson(sql: Sql, email: string, limit: number, token: string | null): Promise<ExportPersonResponse> {
  const position = token === null ? EXPORT_BEGINNING : exportPositionOf(email, token);
  const found = await pageOfPersonRecords(sql, email, position, limit);
  const next = nextPosition(position, found.length === limit ? found.at(-1) : undefined);
  return {
    ...emptyPage(),
    [position.section]: found.map(({ record }) => record),
    next_page_token: next === undefined ? null : exportToken(email, next),
  };
}

const emptyPage = (): Omit<ExportPersonResponse, "next_page_token"> => ({
  memberships: [],
  sessions: [],
  sign_in_links: [],
  identities: [],
  keys: [],
  audit_entries: [],
  erasures: [],
});

/** @param last of a full page: the section may have more */
function nextPosition({ section }: ExportPosition, last: ExportPosition["after"]): ExportPosition | undefined {
  if (last !== undefined) return { section, after: { createdAt: last.createdAt, id: last.id } };
  const following = EXPORT_SECTIONS[EXPORT_SECTIONS.indexOf(section) + 1];
  return following && { section: following, after: undefined };
}
