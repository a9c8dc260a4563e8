import { open } from "node:fs/promises";
import { CommandFailure } from "./command-failure.ts";
import { errorCode, errorReason } from "./terminal/error-reason.ts";
import { printable } from "./terminal/printable.ts";

/** Makes the names of new files in a folder last. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

export function unwritable(path: string, error: unknown): CommandFailure {
  const reason = errorCode(error) === "ENOENT" ? "its folder does not exist" : errorReason(error);
  return new CommandFailure("unwritable_file", `${printable(path)} cannot be written: ${reason}.`, { cause: error });
}
