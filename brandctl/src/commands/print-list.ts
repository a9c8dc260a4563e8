import type { Column } from "@brand-records/command-line";
import { emptyListText } from "../brand-lookup.ts";
import type { Listing } from "../connection/read-pages.ts";
import type { Session } from "../session.ts";

interface PrintedList<Item> {
  readonly brandId: string;
  readonly name: string;
  readonly columns: readonly Column<Item>[];
  readonly limit: number;
  readonly empty: string;
}

/**
 * Prints a list of a brand, and notes that there may be more.
 *
 * @param name of the list in JSON
 * @param empty such as `The brand has no plans.`
 */
export async function printList<Item>(
  session: Session,
  { items, mayBeMore }: Listing<Item>,
  { brandId, name, columns, limit, empty }: PrintedList<Item>,
): Promise<void> {
  const none = items.length === 0 ? await emptyListText(session, brandId, empty) : "";
  session.printTable({ [name]: items }, columns, items, none);
  noteLimit(session, mayBeMore, limit);
}

export function noteLimit(session: Session, mayBeMore: boolean, limit: number): void {
  if (mayBeMore) session.note(({ dim }) => dim(`Limited to ${limit}; there may be older ones: see --limit`));
}
