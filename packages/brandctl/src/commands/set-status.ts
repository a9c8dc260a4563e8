import { Argument, Command, InvalidArgumentError } from "commander";
import { changeStatus, type StatusChange, type StatusChanged } from "../changing/change-status.ts";
import {
  CODE_DEFAULT,
  codesOf,
  eventOf,
  FAILURE_CODES,
  KIND_NAMES,
  KINDS,
  REJECTION_CODES,
  statusesOf,
  type Kind,
} from "../changing/status-rules.ts";
import { findPlatformDatabase, withPlatformDatabase } from "../connection/platform-database.ts";
import { CommandFailure, UsageFailure } from "../failure.ts";
import { printable } from "../output/printable.ts";
import type { Colors } from "../session.ts";
import type { Shell } from "../shell.ts";
import { examples } from "./examples.ts";

interface SetStatusOptions {
  readonly brand?: string;
  readonly code?: string;
  readonly traceparent?: string;
  readonly platformDatabaseUrl?: string;
}

export function setStatusCommand(shell: Shell): Command {
  return new Command("set-status")
    .summary("change a record's status, as the platform would")
    .description(
      "Change the status of a submission, a payout or a campaign, as the platform does it: in the tables, by SQL, with the role platform.\n" +
        "What belongs to the status is set with it: when it was reviewed, paid or settled, and why it was rejected or failed.\n" +
        "Approved and rejected submissions, paid payouts and settled campaigns make the event that integrations are told of.",
    )
    .addArgument(new Argument("<kind>", "what kind of record").choices(KIND_NAMES))
    .argument("<id>", "id of the record (sub_…, po_… or cmp_…)")
    .argument("<status>", KIND_NAMES.map((kind) => `${kind}: ${statusesOf(kind).join(", ")}`).join("; "))
    .option("--brand <id>", "whose record it is; needed where several brands have one of this id")
    .option(
      "--code <code>",
      `why; of a rejected submission: ${REJECTION_CODES.join(", ")}; of a failed payout: ${FAILURE_CODES.join(", ")} (default: ${CODE_DEFAULT})`,
    )
    .option("--traceparent <traceparent>", "W3C trace context that the event carries on", parseTraceparent)
    .option(
      "--platform-database-url <url>",
      "Postgres, by a login with the role platform (default: PLATFORM_DATABASE_URL, else the run file's)",
    )
    .addHelpText(
      "after",
      examples(
        ["brandctl records set-status submission sub_01h455vb4pex5vsknk084sn02q approved", "an event, submission.approved"],
        ["brandctl records set-status submission sub_… rejected --code off_brief --brand brd_…", "a reason, and one brand's record"],
      ),
    )
    .action((kind: Kind, id: string, status: string, options: SetStatusOptions, command: Command) =>
      shell.act(command, async (session) => {
        const change = changeFrom(kind, id, status, options);
        const database = findPlatformDatabase(session, options.platformDatabaseUrl);
        const changed = await withPlatformDatabase(database, (db) => {
          session.terminal.interrupted.throwIfAborted();
          return changeStatus(db, change);
        });
        const { brandId, previous } = changed;
        const record = { resource: KINDS[kind].resource, brand_id: brandId, id, previous_status: previous, status };
        const event = changed.changed ? (eventOf(kind, status) ?? null) : null;
        session.print({ record, changed: changed.changed, event }, (colors) => text(change, changed, event, colors));
      }),
    );
}

/** @throws CommandFailure when the three do not fit each other */
function changeFrom(kind: Kind, id: string, status: string, { brand, code, traceparent }: SetStatusOptions): StatusChange {
  const { prefix } = KINDS[kind];
  if (!statusesOf(kind).includes(status)) {
    throw new UsageFailure(`A ${kind} is never ${status}; its status is one of ${statusesOf(kind).join(", ")}.`);
  }
  if (!id.startsWith(prefix)) {
    const other = KIND_NAMES.find((name) => id.startsWith(KINDS[name].prefix));
    throw new CommandFailure("invalid_request", `The id of a ${kind} begins with ${prefix}, and ${id} does not.`, {
      hint: other === undefined ? undefined : `It is a ${other}'s.`,
    });
  }
  const codes = codesOf(kind, status);
  if (code !== undefined && codes === undefined) {
    throw new UsageFailure(`--code says why a submission is rejected or a payout has failed; a ${kind} that becomes ${status} has none.`);
  }
  if (code !== undefined && codes?.includes(code) === false) {
    throw new UsageFailure(`--code must be one of ${codes.join(", ")} for a ${status} ${kind}.`);
  }
  return { kind, id, brandId: brand, status, code: codes === undefined ? undefined : (code ?? CODE_DEFAULT), traceparent };
}

function text(
  { kind, id, status }: StatusChange,
  { brandId, previous, changed }: StatusChanged,
  event: string | null,
  colors: Colors,
): string {
  const record = `${kind} ${colors.cyan(printable(id))} of ${printable(brandId)}`;
  if (!changed) return `${record} is ${status} already: nothing was changed, and no event made.`;
  const told = event === null ? "This change makes no event." : `It made the event ${colors.bold(event)}.`;
  return `${record}: ${previous} → ${colors.bold(status)}\n${told}`;
}

function parseTraceparent(given: string): string {
  if (/^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/.test(given)) return given;
  throw new InvalidArgumentError("It must be a W3C traceparent, such as 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01.");
}
