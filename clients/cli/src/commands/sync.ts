import type { UnknownEvent } from "@brand-records/client";
import { counted, openProgressBar, option, parsedJson, printable, shortTime, UsageFailure, type Values } from "@brand-records/command-line";
import { withNextStep } from "../failure.ts";
import { command, type Session } from "../session.ts";
import { openClient, readAccess } from "../settings.ts";
import type { Copy, EventOutcome, ResourceCount } from "../sync/copy.ts";

const DESCRIPTION = `Copy every record of all six lists into a SQLite file or a Postgres database, and keep the copy current: run it each night.

The first run makes the copy. Each run reads every list and takes every record as it is listed, so the copy is as of the run's beginning, or later. Each page is one transaction: after Ctrl-C, a kill or a cut, the same command continues. It takes half of the brand's limit, and refuses another brand's key.`;

const HELP = `
A SQLite file needs Node.js 22.13 or later. Postgres needs the package pg beside
this one (npm install --global pg), and rights to make the schema brand_copy. A
password is no part of --db: set PGPASSWORD, or BRAND_RECORDS_DB to the whole URL.

Tables and views: records (each with its JSON), a view for each resource, and
vanished, the records that the last run did not list. docs/syncing.md explains.

Examples:
  # the first run, and one for each night, as a line of crontab
  brand-records sync --db copy.db
  15 2 * * *  brand-records sync --db /srv/copy.db --json >> /srv/sync.log 2>&1

  brand-records sync --db postgres://reports@db.example/reports

  # the body of a verified event, in between
  brand-records sync --db copy.db --event body.json
`;

const OPTIONS = {
  db: option("--db <target>", "the SQLite file, or postgres://user@host/database. Default: BRAND_RECORDS_DB"),
  share: option("--share <part>", "the part of the brand's limit that it takes, up to 1. Default: 0.5", parseShare),
  brand: option("--brand <id>", "the brand that it must be. Default: that of the copy, or of the first run's key"),
  event: option("--event <file>", "merge the body of a verified event instead, if it is newer; - for standard input"),
};

type SyncOptions = Values<typeof OPTIONS>;

export const syncCommand = command("sync", {
  summary: "keep a copy of every record in SQLite or Postgres",
  description: DESCRIPTION,
  options: OPTIONS,
  help: HELP,
  run: async (session, options) => {
    const { openCopy } = await import("../sync/open-copy.ts");
    const target = options.db ?? session.terminal.env["BRAND_RECORDS_DB"] ?? "";
    if (target === "") throw new UsageFailure("--db is missing", "Name a SQLite file, or a database: postgres://user@host/database");
    const event = options.event === undefined ? undefined : await readEvent(session, options.event);
    // Refuses a missing key before anything is made.
    if (event === undefined) readAccess(session.terminal.env);
    const copy = await openCopy(target, options.db !== undefined, event === undefined);
    try {
      await (event === undefined ? walk(session, copy, options) : mergeEvent(session, copy, event));
    } finally {
      await copy.close();
    }
  },
});

function parseShare(text: string): number {
  const share = /^(0?\.\d{1,3}|1(\.0+)?)$/.test(text) ? Number(text) : 0;
  if (share > 0) return share;
  throw new UsageFailure("--share must be a number above 0, up to 1");
}

async function walk(session: Session, copy: Copy, { share, brand }: SyncOptions): Promise<void> {
  const { interrupted: signal } = session.terminal;
  const { progress } = await copy.load();
  const counts = await copy.counts();
  let [read, requests] = [progress === undefined ? 0 : sum(counts, "listed"), 0];
  if (progress !== undefined)
    session.note(({ dim }) => dim(`Continuing the walk of ${progress.startedAt}, after ${counted(read, "record")}.`));
  const bar = openProgressBar(session, "sync", sum(counts, "records") || undefined, { unit: "records", atEnd: "" });
  try {
    bar.update(read, read);
    const { startedAt, finishedAt } = await openClient(session, { expectBrand: brand }).sync(copy, {
      ...(share !== undefined && { share }),
      signal,
      onPage({ records }) {
        [read, requests] = [read + records.length, requests + 1];
        bar.update(read, read);
      },
      onRestart: (resource) =>
        session.note(({ yellow }) => yellow(`The cursor of ${resource} is refused: reading this list from its start.`)),
    });
    bar.stop();
    await report(session, copy, { started_at: startedAt, finished_at: finishedAt, continued: progress !== undefined, requests });
  } catch (error) {
    const is = read === 1 ? "is" : "are";
    const kept = `${counted(read, "record")} of this walk ${is} in ${copy.name}. The same command continues.`;
    throw withNextStep(error, signal, kept);
  } finally {
    bar.stop();
  }
}

const sum = (counts: readonly ResourceCount[], name: "records" | "listed" | "vanished"): number =>
  counts.reduce((total, count) => total + count[name], 0);

interface Walk {
  readonly started_at: string;
  readonly finished_at: string;
  readonly continued: boolean;
  readonly requests: number;
}

async function report(session: Session, copy: Copy, walk: Walk): Promise<void> {
  const { brandId = "" } = await copy.load();
  const counts = await copy.counts();
  const byResource = (name: "records" | "vanished") => Object.fromEntries(counts.map((count) => [count.resource, count[name]]));
  const document = { db: copy.name, brand_id: brandId, ...walk, records: byResource("records"), vanished: byResource("vanished") };
  const noLonger = (vanished: number): string => (vanished === 0 ? "" : `, ${vanished.toLocaleString("en")} no longer listed (vanished)`);
  session.printFacts(document, [
    ["Copy", `${copy.name}, as of ${shortTime(walk.started_at)} UTC or later`, "green"],
    ["Brand", brandId, "cyan"],
    ...counts.map(({ resource, records, vanished }) => [resource, records.toLocaleString("en") + noLonger(vanished)] as const),
    ["Requests", walk.requests.toLocaleString("en")],
  ]);
}

const OUTCOMES: Readonly<Record<EventOutcome, string>> = {
  changed: "is changed",
  not_in_copy: "is not in the copy: the next run brings the whole record",
  not_newer: "is not changed: the copy has this state or a later one",
  before_listing: "is not changed: the copy has a later listing",
  no_updated_at: "is not changed: the event has no updated_at",
  test: "is not changed: this is a test event",
};

async function mergeEvent(session: Session, copy: Copy, event: UnknownEvent): Promise<void> {
  const outcome = await copy.applyEvent(event);
  const id = String(event.data["id"]);
  session.print({ event_id: event.id, id, outcome }, () => `${printable(id)} ${OUTCOMES[outcome]}`);
}

async function readEvent(session: Session, file: string): Promise<UnknownEvent> {
  const event = parsedJson(await session.input.readText(file, "--event")) as Partial<UnknownEvent> | null | undefined;
  const fields = [event?.brand_id, event?.created_at, event?.data?.["resource"], event?.data?.["id"]];
  if (fields.every((field) => typeof field === "string")) return event as UnknownEvent;
  throw new UsageFailure("--event has no event", "Give the body of a delivery, whole, after it is verified.");
}
