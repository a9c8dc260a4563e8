import { EVENT_TYPE_NAMES } from "@brand-records/resources";
import { option, printable, type Values } from "@brand-records/command-line";
import { Argument, InvalidArgumentError } from "commander";
import { namedBrand, requireBrand } from "../brand-lookup.ts";
import { cellDatabase, cellDatabases } from "../connection/cells.ts";
import { findPlatformDatabase, withPlatformDatabase, type PlatformDatabase } from "../connection/platform-database.ts";
import { UsageFailure } from "../failure.ts";
import { requireId } from "../ids.ts";
import { changeStatus, type StatusChange, type StatusChanged } from "../set-status/change-status.ts";
import {
  CODE_DEFAULT,
  codesOf,
  eventOf,
  FAILURE_CODES,
  KIND_NAMES,
  REJECTION_CODES,
  resourceOf,
  statusesOf,
} from "../set-status/status-rules.ts";
import { command, type Session } from "../session.ts";
import type { Colors } from "../terminal.ts";
import { brandIdOption } from "./options.ts";

const STATUS_HELP = KIND_NAMES.map((kind) => `${kind}: ${statusesOf(kind).join(", ")}`).join("; ");

const OPTIONS = {
  brand: brandIdOption("the record's brand; needed with cells, and if several brands have a record with this id"),
  code: option(
    "--code <code>",
    `reason. Rejected submission: ${REJECTION_CODES.join(", ")}; failed payout: ${FAILURE_CODES.join(", ")} (default: ${CODE_DEFAULT})`,
  ),
  traceparent: option("--traceparent <traceparent>", "W3C trace context for the event", parseTraceparent),
  platformDatabaseUrl: option(
    "--platform-database-url <url>",
    "Postgres, by a login with the role platform (default: PLATFORM_DATABASE_URL, else the run file's)",
  ),
};

export const setStatusCommand = command("set-status", {
  summary: "change a record's status, as the platform would",
  description:
    "Change a record's status as the platform does: in the tables, by SQL, with the role platform. Columns that belong to the status are set with it: when the record was reviewed, paid or settled, and why it was rejected or failed.\n\n" +
    `These changes make an event: ${EVENT_TYPE_NAMES.join(", ")}.`,
  arguments: [
    new Argument("<kind>", "kind of record").choices(KIND_NAMES),
    new Argument("<id>", "id of the record, such as sub_01h455vb4pex5vsknk084sn02q"),
    new Argument("<status>", STATUS_HELP),
  ],
  options: OPTIONS,
  examples: [
    ["brandctl records set-status submission sub_01h455vb4pex5vsknk084sn02q approved", "makes the event submission.approved"],
    ["brandctl records set-status submission sub_… rejected --code off_brief --brand brd_…", "with a reason, and the brand"],
  ],
  run: async (session, options, kind: string, id: string, status: string) => {
    const change = changeFrom(kind, id, status, options);
    const database = await databaseOf(session, options);
    const { inChangeSpan } = await import("../set-status/change-span.ts");
    const changed = await inChangeSpan(session.terminal, change, (traced) =>
      withPlatformDatabase(database, (db) => {
        session.terminal.interrupted.throwIfAborted();
        return changeStatus(db, traced);
      }),
    );
    const { brandId, previous } = changed;
    const record = { resource: resourceOf(kind), brand_id: brandId, id, previous_status: previous, status };
    const event = changed.changed ? (eventOf(kind, status) ?? null) : null;
    session.print({ record, changed: changed.changed, event }, (colors) => changeText(change, changed, event, colors));
  },
});

/** With cells, that of the brand's. */
async function databaseOf(session: Session, { brand, platformDatabaseUrl }: Values<typeof OPTIONS>): Promise<PlatformDatabase> {
  const hasCells = platformDatabaseUrl === undefined && cellDatabases(session).size > 0;
  const cell = hasCells ? await requireBrand(session, namedBrand(session, brand)) : null;
  return cell === null ? findPlatformDatabase(session, platformDatabaseUrl) : cellDatabase(session, cell);
}

/** @throws UsageFailure when kind, id, status and code do not go together */
function changeFrom(kind: string, id: string, status: string, { brand, code, traceparent }: Values<typeof OPTIONS>): StatusChange {
  if (!statusesOf(kind).includes(status)) {
    throw new UsageFailure(`The status of a ${kind} must be one of ${statusesOf(kind).join(", ")}; ${JSON.stringify(status)} is not.`);
  }
  requireId(`The id of a ${kind}`, kind, id);
  const codes = codesOf(kind, status);
  if (code !== undefined && codes === undefined) {
    throw new UsageFailure(`--code is the reason of a rejected submission or a failed payout; a ${kind} that becomes ${status} has none.`);
  }
  if (code !== undefined && codes?.includes(code) === false) {
    throw new UsageFailure(`--code must be one of ${codes.join(", ")} for a ${status} ${kind}.`);
  }
  return { kind, id, brandId: brand, status, code: codes === undefined ? undefined : (code ?? CODE_DEFAULT), traceparent };
}

function changeText(
  { kind, id, status }: StatusChange,
  { brandId, previous, changed }: StatusChanged,
  event: string | null,
  colors: Colors,
): string {
  const record = `${kind} ${colors.cyan(printable(id))} of ${printable(brandId)}`;
  if (!changed) return `${record} is ${status} already: nothing changed, and no event was made.`;
  const made = event === null ? "This change makes no event." : `It made the event ${colors.bold(event)}.`;
  return `${record}: ${previous} → ${colors.bold(status)}\n${made}`;
}

function parseTraceparent(given: string): string {
  if (/^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/.test(given)) return given;
  throw new InvalidArgumentError("It must be a W3C traceparent, such as 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01.");
}
