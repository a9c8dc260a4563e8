import type { Key } from "../src/domain/key.ts";
import { afterRestore, type AfterRestore, type AfterRestoreOptions } from "../src/use-cases/restore/after-restore.ts";
import type { ServedAccounts } from "./serve-accounts.ts";

interface Reported {
  readonly works: Key[];
  readonly withoutOwner: string[];
}

/** Does what is to be done after a restore of accounts, by default without Redis and files. Returns what it reports. */
export async function runAfterRestore(
  { db }: ServedAccounts,
  options: Partial<AfterRestoreOptions> = {},
): Promise<AfterRestore & Reported> {
  const reported: Reported = { works: [], withoutOwner: [] };
  const done = await afterRestore({
    db,
    ownerDb: db,
    redis: undefined,
    audit: undefined,
    onTaken: async () => {},
    onOpen: async () => {},
    onKey: async (key) => void reported.works.push(key),
    onWithoutOwner: async (brandId) => void reported.withoutOwner.push(brandId),
    ...options,
  });
  return { ...done, ...reported };
}
