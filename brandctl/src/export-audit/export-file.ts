import { constants } from "node:fs";
import { open, realpath, stat, type FileHandle } from "node:fs/promises";
import { dirname } from "node:path";
import { errorCode, errorReason, printable, syncFolder, unwritable } from "@brand-records/command-line";
import { CommandFailure } from "../failure.ts";
import { NotAnExport, scanExport, type Position } from "./entry-line.ts";

/** E-mail and IP addresses are for those alone who may read backups. */
const MODE = 0o600;

/** A file that has complete lines of an export, and no other process' writes while it is open. */
export interface ExportFile {
  /** Position of the last line when the file was opened; undefined without one. */
  readonly last: Position | undefined;
  /** Adds lines. If that fails, the file is as before, unless the disk refuses that too: the next opening removes the torn line. */
  append(lines: string): Promise<void>;
  /** Writes to the disk what the system holds in memory. */
  sync(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Opens an export to go on, or makes the file. Removes a torn last line. All errors say what happened to the file.
 *
 * @throws CommandFailure `not_an_export` for another file, which stays as it is; `export_under_way` while another process has it open;
 *   `unwritable_file`
 */
export async function openExportFile(path: string, signal: AbortSignal): Promise<ExportFile> {
  const { file, target, isNew } = await openTarget(path);
  let lock: { release(): void } | undefined;
  const close = async (): Promise<void> => {
    await file.close();
    lock?.release();
  };
  try {
    lock = await lockFile(target);
    const { bytes, last } = await scanExport(file, signal);
    await file.truncate(bytes);
    if (isNew) await syncFolder(dirname(target));
    return { last, ...appending(file, path, bytes), close };
  } catch (error) {
    await close();
    if (error instanceof NotAnExport) throw notAnExport(path, error.message, error);
    if (error instanceof CommandFailure || signal.aborted) throw error;
    throw unwritable(path, error);
  }
}

function appending(file: FileHandle, path: string, bytes: number): Pick<ExportFile, "append" | "sync"> {
  let end = bytes;
  return {
    async append(lines) {
      const buffer = Buffer.from(lines);
      try {
        for (let written = 0; written < buffer.length;)
          written += (await file.write(buffer, written, buffer.length - written, end + written)).bytesWritten;
        end += buffer.length;
      } catch (error) {
        await file.truncate(end).catch(() => undefined);
        throw unwritable(path, error);
      }
    },
    async sync() {
      try {
        await file.sync();
      } catch (error) {
        throw unwritable(path, error);
      }
    },
  };
}

async function openTarget(path: string): Promise<{ file: FileHandle; target: string; isNew: boolean }> {
  try {
    const found = await stat(path).catch((error: unknown) => {
      if (errorCode(error) === "ENOENT") return undefined;
      throw error;
    });
    // Opening a pipe would wait for its reader.
    if (found !== undefined && !found.isFile()) throw notAnExport(path, "it is no file");
    const file = await open(path, constants.O_RDWR | constants.O_CREAT, MODE);
    return { file, target: await realpath(path), isNew: found === undefined };
  } catch (error) {
    throw error instanceof CommandFailure ? error : unwritable(path, error);
  }
}

function notAnExport(path: string, reason: string, cause?: unknown): CommandFailure {
  const message = `${printable(path)} is no export of the audit log: ${reason}. It was left as it is.`;
  return new CommandFailure("not_an_export", message, { cause, hint: "Name a file that does not exist, or one that this command wrote." });
}

/** SQLite's code of a lock that another process holds. */
const SQLITE_BUSY = 5;

/**
 * Locks a file by another one beside it, `FILE.lock`, which is empty and stays. Node has no lock of its own that ends with its process; SQLite's
 * does, also after a kill, and holds between hosts on a shared disk. Deleting the lock file would let a third process lock a new one.
 *
 * @throws CommandFailure `export_under_way` if it is locked; `unwritable_file` if the lock file cannot be made
 */
async function lockFile(path: string): Promise<{ release(): void }> {
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
