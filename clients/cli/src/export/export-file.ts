import { access, constants, open, rename, stat, type FileHandle } from "node:fs/promises";
import { dirname } from "node:path";
import { CommandFailure, counted, errorCode, printable, syncFolder, unwritable, UsageFailure } from "@brand-records/command-line";
import { lockExport, type ExportLock } from "./export-lock.ts";
import {
  deleteState,
  EXPORT_MODE,
  newState,
  readState,
  requireSame,
  writeState,
  type ExportRequest,
  type ExportState,
} from "./export-state.ts";

export interface OpenOptions {
  /** Replace the file, when the export is complete. */
  readonly replace: boolean;
  /** Begin again if an earlier export was interrupted. */
  readonly restart: boolean;
}

/** An export in progress: `FILE.part` with complete pages, and `FILE.state`. No other process writes into them. */
export interface ExportFile {
  readonly state: ExportState;
  /** Adds a page, with the state after it. A kill leaves all of the page or nothing. */
  append(text: string, next: (bytes: number) => ExportState): Promise<void>;
  /** Gives the file its name. The state of the last page must be complete. */
  finish(): Promise<void>;
  close(): Promise<void>;
}

export const partPath = (out: string): string => `${out}.part`;

/**
 * Begins an export, or continues one that was interrupted.
 *
 * @throws UsageFailure if the files do not let it begin, CommandFailure if another export is under way. Both say what to do
 */
export async function openExportFile(out: string, request: ExportRequest, options: OpenOptions): Promise<ExportFile> {
  try {
    const lock = await lockExport(out);
    try {
      const { state, file } = await openPart(out, request, options);
      const close = async (): Promise<void> => {
        await file.close();
        await lock.release();
      };
      return { state, ...writing(out, file, state, lock), close };
    } catch (error) {
      await lock.release();
      throw error;
    }
  } catch (error) {
    const failure = failureOf(out, error);
    throw failure instanceof CommandFailure && failure.code !== "export_under_way" ? usageOf(failure) : failure;
  }
}

/** Before anything is sent, what the files are is part of the command's usage. */
const usageOf = ({ code, message, hint }: CommandFailure): UsageFailure => new UsageFailure(message, hint, code);

async function openPart(out: string, request: ExportRequest, options: OpenOptions): Promise<{ state: ExportState; file: FileHandle }> {
  const found = options.restart ? undefined : await stateToContinue(out, request, options);
  if (!options.replace && (await exists(out))) throw fileExists(`${printable(out)} exists.`);
  const part = partPath(out);
  const state = found ?? newState(request);
  if (found === undefined) {
    if (!options.restart && (await exists(part))) {
      const hint = "If it is yours, choose another --out. If not, --restart exports from the beginning.";
      throw new CommandFailure("foreign_part", `${printable(part)} exists, without the state of an export.`, { hint });
    }
    // First, so that a kill leaves no part without a state.
    await writeState(out, state);
  }
  const file = await open(part, constants.O_RDWR | constants.O_CREAT | constants.O_APPEND, EXPORT_MODE);
  try {
    if ((await file.stat()).size < state.bytes) {
      const hint = "Add --restart to export from the beginning.";
      throw new CommandFailure("damaged_part", `${printable(part)} is shorter than its state says: the export cannot continue.`, { hint });
    }
    await file.truncate(state.bytes);
    return { state, file };
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** Returns undefined if there is nothing to continue. */
async function stateToContinue(out: string, request: ExportRequest, { replace }: OpenOptions): Promise<ExportState | undefined> {
  const state = await readState(out);
  if (state === undefined) return undefined;
  if (state.complete && !(await exists(partPath(out)))) {
    // A kill came after the file got its name.
    await deleteState(out);
    if (replace || !(await exists(out))) return undefined;
    throw fileExists(`${printable(out)} is complete already: ${counted(state.records, "record")} of ${state.resource}.`);
  }
  requireSame(out, state, request);
  return state;
}

function fileExists(message: string): CommandFailure {
  const hint = "--replace replaces it when the export is complete. Or choose another --out.";
  return new CommandFailure("file_exists", message, { hint });
}

function writing(out: string, file: FileHandle, begun: ExportState, lock: ExportLock): Pick<ExportFile, "append" | "finish"> {
  let end = begun.bytes;
  const write = async (work: () => Promise<void>): Promise<void> => {
    try {
      await lock.requireHeld();
      await work();
    } catch (error) {
      throw failureOf(out, error);
    }
  };
  return {
    append: (text, next) =>
      write(async () => {
        await file.appendFile(text);
        end += Buffer.byteLength(text);
        // Before the state: after a loss of power, the state must not be ahead of the file.
        await file.datasync();
        await writeState(out, next(end));
      }),
    finish: () =>
      write(async () => {
        await rename(partPath(out), out);
        await syncFolder(dirname(out));
        await deleteState(out);
      }),
  };
}

async function exists(path: string): Promise<boolean> {
  try {
    await access(path);
    return true;
  } catch (error) {
    if (errorCode(error) === "ENOENT") return false;
    throw error;
  }
}

/** @throws UsageFailure unless a regular file can have this name */
export async function requireFileName(out: string): Promise<void> {
  if (out === "") throw new UsageFailure("--out must be the name of a file", "- is standard output.");
  try {
    if ((await stat(out)).isFile()) return;
  } catch (error) {
    if (errorCode(error) === "ENOENT") return;
    throw usageOf(unwritable(out, error));
  }
  throw new UsageFailure(`${printable(out)} is no file.`, "Choose another --out; - is standard output.", "unwritable_file");
}

const failureOf = (out: string, error: unknown): unknown =>
  error instanceof CommandFailure || errorCode(error) === undefined ? error : unwritable(out, error);
