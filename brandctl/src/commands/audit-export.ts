import { resolve } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { counted, declared, option, printable, writeToReader } from "@brand-records/command-line";
import { Option } from "commander";
import { exportEntries, keptInFile, keptNowhere, type Exported, type Sink } from "../export-audit/export-entries.ts";
import { idsLineOf } from "../export-audit/entry-line.ts";
import { openExportFile } from "../export-audit/export-file.ts";
import { Interrupted } from "../failure.ts";
import { command, type Session } from "../session.ts";
import type { Colors } from "../terminal.ts";
import { parseInstantText, textOption } from "./options.ts";

/** What is new is settled after 35 s, so more often is no sooner. */
const FOLLOW_EVERY_MS = 10_000;

const DESCRIPTION = [
  "Export the audit log of all brands, deleted ones included, as NDJSON: one entry a line, in ascending order of the time of its last change (finished_at, else created_at) and of id. An entry that changes later, as a refusal does that is counted again, has another line: the last line of an id counts. The last 35 seconds are left to the next export.",
  "With --out, a file that exists is continued after its last complete line, so the same command each night adds what is new; a torn last line is removed. A file that is no such export is refused and left as it is. FILE.lock beside it keeps two exports apart. After an interruption the same command goes on.",
  "With --follow the command does not end: it writes what is new, from --since or from now on, and each line has ids alone, no e-mail or IP address. A program that sends mail reads it. It does not wait for a service that is away: start it again with --since and the finished_at, else created_at, of the last line; lines of that time come again.",
  "Without --follow the lines have no secrets; they have e-mail addresses and IP addresses, also of people who are erased later.",
].join("\n\n");

export const exportAudit = command("export", {
  summary: "export the audit log of all brands",
  description: DESCRIPTION,
  options: {
    since: option(
      "--since <time>",
      "only what was changed at or after this RFC 3339 time; not if a file is continued (default: everything)",
      parseInstantText,
    ),
    out: textOption("--out <file>", "the file to write or to continue (default: standard output)"),
    follow: declared<boolean | undefined>(
      new Option("--follow", "go on with what is new, every ten seconds, until Ctrl-C").conflicts("out"),
    ),
  },
  examples: [
    ["brandctl audit export --out audit.ndjson", "each night: what is new"],
    ["brandctl audit export --since 2026-11-21T00:00:00Z | jq -r 'select(.action == \"key.revoke\") | .subject_id'", "keys revoked since"],
    ["brandctl audit export --follow | node tell-people.js", "lines with ids alone, for a program of yours"],
  ],
  run: async (session, { since, out, follow }) => {
    if (follow === true) await followOutput(session, since ?? new Date().toISOString());
    else if (out === undefined) await exportToOutput(session, since);
    else await exportToFile(session, out, since);
  },
});

async function exportToFile(session: Session, out: string, since: string | undefined): Promise<void> {
  const { interrupted, cwd } = session.terminal;
  const client = session.client("accounts.audit");
  const file = await openExportFile(resolve(cwd, out), interrupted).catch((error: unknown) => {
    throw interrupted.aborted ? new Interrupted(`Interrupted. ${keptInFile(0)}`) : error;
  });
  const write = async (lines: string): Promise<boolean> => {
    await file.append(lines);
    return true;
  };
  try {
    const exported = await exportEntries(session, client, { last: file.last, isScreen: false, write, kept: keptInFile }, since);
    await file.sync();
    if (session.json) session.print({ export: { ...exported, file: out } }, () => "");
    else session.note((colors) => summaryText(exported, ` into ${printable(out)}`, colors));
  } finally {
    await file.close();
  }
}

async function exportToOutput(session: Session, since: string | undefined): Promise<void> {
  const { stdout } = session.terminal;
  const exported = await exportEntries(session, session.client("accounts.audit"), outputSink(session, stdout.isTTY === true), since);
  session.note((colors) => summaryText(exported, "", colors));
}

/** Writes until Ctrl-C, or until its reader ends. */
async function followOutput(session: Session, since: string): Promise<void> {
  const { interrupted } = session.terminal;
  const wait = (): Promise<void> => pause(FOLLOW_EVERY_MS, undefined, { signal: interrupted });
  const sink = { ...outputSink(session, true), lineOf: idsLineOf, wait };
  await exportEntries(session, session.client("accounts.audit"), sink, since);
}

function outputSink({ terminal: { stdout, interrupted } }: Session, isScreen: boolean): Sink {
  return {
    last: undefined,
    isScreen,
    kept: keptNowhere,
    write: (lines) => writeToReader(stdout, lines, interrupted),
  };
}

function summaryText({ entries, from, until }: Exported, into: string, { dim, green }: Colors): string {
  const changed = from === null ? "" : `, changed from ${from}`;
  const complete = until === null ? "" : dim(` Complete until ${until}.`);
  return `${green(`Exported ${counted(entries, "entry", "entries")}${into}`)}${changed}.${complete}`;
}
