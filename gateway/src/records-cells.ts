import { AppError } from "@brand-records/errors";
import type { RecordsServiceService } from "@brand-records/proto/records/v1";
import type { CallContext, RpcClient, RpcConnection } from "@brand-records/rpc";
import type { Principal } from "./auth/principal.ts";

type Records = RpcClient<RecordsServiceService>;
/** Null: the only one, or the one without a name. */
type Cell = string | null;

interface Addresses {
  readonly RECORDS_ADDRESS: string;
  readonly RECORDS_CELLS: Readonly<Record<string, string>>;
}

/** records, in each cell. */
export class RecordsCells implements RpcConnection {
  readonly #cells: ReadonlyMap<Cell, Records>;

  constructor(connect: (address: string) => Records, { RECORDS_ADDRESS, RECORDS_CELLS }: Addresses) {
    const addresses: [Cell, string][] = [[null, RECORDS_ADDRESS], ...Object.entries(RECORDS_CELLS)];
    this.#cells = new Map(addresses.map(([cell, address]) => [cell, connect(address)]));
  }

  async connected(): Promise<void> {
    await Promise.all(Array.from(this.#cells.values(), (records) => records.connected()));
  }

  stop(): void {
    for (const records of this.#cells.values()) records.stop();
  }

  /**
   * Reads from the cell that has the brand. If that one refuses it, another cell is asked once: the one that the refusal names, as accounts
   * may not have been told yet, or be away; else the one that accounts names when the key is verified again.
   *
   * @throws AppError `unavailable` if the brand is in no cell that can be asked; what `read` and the verification throw
   */
  async read<T>(principal: Principal, context: CallContext, read: (records: Records) => T): Promise<Awaited<T>> {
    const asked = principal.cell ?? null;
    try {
      return await read(this.#recordsIn(asked));
    } catch (error) {
      const refusal = refusalOf(error);
      const { cell: next = null } = movedTo(refusal) ?? (await principal.verifyAgain?.(context)) ?? principal;
      if (next === asked) throw moving(refusal);
      try {
        return await read(this.#recordsIn(next));
      } catch (again) {
        throw moving(refusalOf(again));
      }
    }
  }

  #recordsIn(cell: Cell): Records {
    const records = this.#cells.get(cell);
    if (records !== undefined) return records;
    const cause = new Error(`RECORDS_CELLS lacks the cell ${cell}`);
    throw new AppError("unavailable", "The brand's records cannot be reached. Try again.", {
      cause,
      dependency: "records",
      retryAfterSeconds: 5,
    });
  }
}

/** @throws what is no refusal */
function refusalOf(error: unknown): AppError {
  if (error instanceof AppError && error.kind === "brand_moving") return error;
  throw error;
}

/** Undefined if the cell does not know it. Never that of an earlier move: a move ends when the cell has forgotten the brand. */
function movedTo({ details = [] }: AppError): { readonly cell: Cell } | undefined {
  const found = details.find(({ field }) => field === "cell");
  return found && { cell: found.message === "" ? null : found.message };
}

const moving = (cause: AppError): AppError =>
  new AppError("unavailable", "The brand's records are being moved. Try again shortly.", {
    cause,
    dependency: "records",
    retryAfterSeconds: 1,
  });
