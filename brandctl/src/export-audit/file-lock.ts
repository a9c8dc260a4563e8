import { errorReason, printable } from "@brand-records/command-line";
import { CommandFailure } from "../failure.ts";

/** SQLite's code of a lock that another process holds. */
const SQLITE_BUSY = 5;

/**
 * Locks a file by another one beside it, `FILE.lock`, which is empty and stays. Node has no lock of its own that ends with its process; SQLite's
 * does, also after a kill, and holds between hosts on a shared disk. Deleting the lock file would let a third process lock a new one.
 *
 * @throws CommandFailure `export_under_way` if it is locked; `unwritable_file` if the lock file cannot be made
 */
export async function lockFile(path: string): Promise<{ release(): void }> {
  // Loaded when needed: other commands run on releases of Node that lack it.
  const { DatabaseSync } = await import("node:sqlite");
  const lockPath = `${path}.lock`;
  try {
    const lock = new DatabaseSync(lockPath);
    try {
      lock.exec("begin exclusive");
      return { release: () => lock.close() };
    } catch (error) {
      lock.close();
      throw error;
    }
  } catch (error) {
    if (isBusy(error)) {
      throw new CommandFailure("export_under_way", `Another export writes into ${printable(path)}. Nothing was exported.`, {
        cause: error,
      });
    }
    throw new CommandFailure("unwritable_file", `${printable(lockPath)} cannot be locked: ${errorReason(error)}. Nothing was exported.`, {
      cause: error,
    });
  }
}

const isBusy = (error: unknown): boolean =>
  typeof error === "object" && error !== null && "errcode" in error && error.errcode === SQLITE_BUSY;
