import { isDeepStrictEqual } from "node:util";
import { type Column, counted, flag, openProgressBar, option, shortTime } from "@brand-records/command-line";
import { CELL_NAME, CELL_NAME_RULE } from "@brand-records/config";
import type { BrandMove } from "@brand-records/proto/accounts/v1";
import { InvalidArgumentError } from "commander";
import { cellText } from "../connection/cells.ts";
import { CommandFailure, Interrupted, required, restated, UsageFailure } from "../failure.ts";
import { openCell } from "../move-brand/cell.ts";
import { abortMove, beginMove, continueMove, findMove, releaseSource, type Moved } from "../move-brand/move-brand.ts";
import type { Moving } from "../move-brand/moving.ts";
import { command, type Session } from "../session.ts";
import { BRAND_HELP, idArgument } from "./options.ts";

const OPTIONS = {
  to: option("--to <cell>", 'the cell that is to have its records; "" is the one without a name', parseCell),
  resume: flag("--resume", "go on with a move that was interrupted"),
  abort: flag("--abort", "leave the brand where it is, if it has not switched yet"),
};

export const moveBrand = command("move", {
  summary: "move a brand's records to another cell",
  description:
    "Move a brand's records to another cell: another Postgres with the schema records. Pages are served all the time; writers are refused for some tenths of a second, at most five seconds. The records are compared before the brand is closed.\n\n" +
    "RECORDS_DATABASE_URL and RECORDS_CELL_DATABASES are the cells' databases, by logins that own the schema. The new cell's server connects to the old one by the URL given here. If the command is interrupted, --resume goes on and --abort takes back.",
  arguments: [idArgument("brand", BRAND_HELP)],
  options: OPTIONS,
  examples: [
    ["brandctl brands move brd_01h455vb4pex5vsknk084sn02q --to b", "to the cell b"],
    ["brandctl brands move brd_… --resume", "goes on where the move stands"],
  ],
  run: async (session, { to, resume = false, abort = false }, brandId: string) => {
    if ([to !== undefined, resume, abort].filter(Boolean).length !== 1) throw new UsageFailure("Give one of --to, --resume and --abort.");
    session.ids.set("BRAND", brandId);
    const clients = { accounts: session.client("accounts"), operator: session.client("accounts.operator") };
    const brand = required((await clients.accounts.getBrand({ brand_id: brandId })).brand, "brand");
    const found = await findMove(clients, brandId);
    if (to === undefined && found === undefined) throw new CommandFailure("not_found", "The brand is not being moved.");
    if (to !== undefined && found !== undefined)
      throw new CommandFailure("request_conflict", "The brand is being moved already.", { hint: goOn(brandId) });
    const cells = found === undefined ? { from: brand.cell ?? "", to: to ?? "" } : cellsOf(found);
    if (cells.from === cells.to) throw new CommandFailure("request_conflict", `The brand is in ${cellText(cells.to)} already.`);
    let move = found;
    try {
      const moved = await inCells(session, { ...clients, ...cells, brandId, abort }, async (opened) => {
        // Another process may have moved the brand until the cells kept it away.
        move = to === undefined ? await findMove(clients, brandId) : await beginMove(opened);
        if (move === undefined || !isDeepStrictEqual(cellsOf(move), cells))
          throw new CommandFailure("request_conflict", "Another process has moved the brand meanwhile.");
        if (!abort) return continueMove(opened, move);
        await abortMove(opened, move);
        return undefined;
      });
      session.print({ [abort ? "aborted" : "moved"]: { brand_id: brandId, from_cell: cells.from, to_cell: cells.to, ...moved } }, () =>
        moved === undefined ? `The brand stays in ${cellText(cells.from)}.` : movedText(cells.to, moved),
      );
    } catch (error) {
      if (move === undefined) throw error;
      if (session.terminal.interrupted.aborted) throw new Interrupted("Stopped. The move has not ended.", goOn(brandId));
      throw restated(error, (error as Error).message, goOn(brandId));
    }
  },
});

export const listMoves = command("moves", {
  summary: "list the moves that have not ended",
  description: "List the moves between cells that have not ended: each goes on with brands move --resume, or is taken back with --abort.",
  run: async (session) => {
    const { moves } = await session.client("accounts.operator").listBrandMoves({});
    session.printTable({ moves }, COLUMNS, moves, "No brand is being moved.");
  },
});

const COLUMNS: readonly Column<BrandMove>[] = [
  { title: "BRAND", cell: ({ brand_id }) => brand_id, paint: "cyan" },
  { title: "FROM", cell: ({ from_cell }) => from_cell ?? '""' },
  { title: "TO", cell: ({ to_cell }) => to_cell ?? '""' },
  { title: "STEP", cell: ({ step }) => step },
  { title: "STARTED (UTC)", cell: ({ started_at }) => shortTime(started_at) },
];

function parseCell(text: string): string {
  if (text === "" || CELL_NAME.test(text)) return text;
  throw new InvalidArgumentError(`It ${CELL_NAME_RULE}.`);
}

const cellsOf = ({ from_cell: from, to_cell: to }: BrandMove) => ({ from: from ?? "", to: to ?? "" });

const goOn = (brandId: string): string => `To go on: brandctl brands move ${brandId} --resume. To leave the brand where it is: --abort`;

function movedText(to: string, { records, closed_ms: closedMs }: Moved): string {
  const closed = closedMs === undefined ? "" : ` Writers were refused for ${Math.round(closedMs)} ms.`;
  return `The brand is in ${cellText(to)}.${closed} Deleted where it was: ${counted(records, "record")}.`;
}

type Given = Pick<Moving, "brandId" | "accounts" | "operator"> & { readonly from: string; readonly to: string; readonly abort: boolean };

async function inCells<T>(session: Session, { from, to, abort, ...given }: Given, work: (moving: Moving) => Promise<T>): Promise<T> {
  const { terminal } = session;
  const source = await openCell(session, from, given.brandId);
  const opened = [source];
  try {
    const target = await openCell(session, to, given.brandId).catch(async (error: unknown) => {
      if (abort) await releaseSource(source, given.brandId);
      throw error;
    });
    opened.push(target);
    return await work({
      ...given,
      source,
      target,
      signal: terminal.interrupted,
      tell: (text) => session.note(({ dim }) => dim(text)),
      openBar: (total) => openProgressBar(session, "Copying", total, { unit: "records", atEnd: "" }),
    });
  } finally {
    for (const cell of opened) await cell.stop();
  }
}
