import { AppError } from "@brand-records/errors";
import { newCallContext } from "@brand-records/rpc";
import type { Principal } from "./auth/principal.ts";
import { RecordsCells } from "./records-cells.ts";

/** Which cells are asked for a page. The cells themselves: services/records/src/storage/cells.test.ts. */

const context = newCallContext(1_000, "test");
const moving = (cell?: string): AppError =>
  new AppError("brand_moving", "Moving", { ...(cell !== undefined && { details: [{ field: "cell", message: cell }] }) });

/** @param refusals by address: what that cell answers; "page" by default */
function openCells(refusals: Readonly<Record<string, AppError>> = {}) {
  const asked: string[] = [];
  const connected: string[] = [];
  const connect = (address: string) =>
    ({
      connected: async () => void connected.push(address),
      page: async () => {
        asked.push(address);
        if (refusals[address] !== undefined) throw refusals[address];
        return "page";
      },
    }) as never;
  const cells = new RecordsCells(connect, { RECORDS_ADDRESS: "first", RECORDS_CELLS: { b: "second", c: "third" } });
  /** @param later the cell that accounts names when it is asked again, or why it does not */
  const read = (cell: string | null, later: string | null | AppError = cell) => {
    const verifyAgain = () => (later instanceof AppError ? Promise.reject(later) : Promise.resolve({ cell: later }));
    const principal = { brand_id: "brd_1", cell, verifyAgain } as unknown as Principal;
    return cells.read(principal, context, (records) => (records as unknown as { page(): Promise<string> }).page());
  };
  return { cells, asked, connected, read };
}

it.each([
  [null, "first"],
  ["b", "second"],
])("a brand in the cell %s is read there, and accounts is not asked", async (cell, address) => {
  const { asked, read } = openCells();
  expect(await read(cell)).toBe("page");
  expect(asked).toEqual([address]);
});

it("connects to every cell before the first request", async () => {
  const { cells, connected } = openCells();
  await cells.connected();
  expect(connected).toEqual(["first", "second", "third"]);
});

it("a cell that this process does not know is unavailable, not empty", async () => {
  const { asked, read } = openCells();
  await expect(read("d")).rejects.toMatchObject({ kind: "unavailable", retryAfterSeconds: 5 });
  expect(asked).toEqual([]);
});

it.each<[string, AppError, string | null | AppError, string[]]>([
  ["that accounts names", moving(), "b", ["first", "second"]],
  ["that the refusal names, if accounts was not told yet", moving("b"), null, ["first", "second"]],
  ["that the refusal names, while accounts is away", moving("b"), new AppError("unavailable", "Away"), ["first", "second"]],
])("a brand that has moved is read in the cell %s", async (_, refusal, later, addresses) => {
  const { asked, read } = openCells({ first: refusal });
  expect(await read(null, later)).toBe("page");
  expect(asked).toEqual(addresses);
});

it("a brand that has moved back is read in the cell without a name", async () => {
  const { asked, read } = openCells({ second: moving("") });
  expect(await read("b")).toBe("page");
  expect(asked).toEqual(["second", "first"]);
});

it("a second refusal is unavailable: no third cell is asked, and none twice", async () => {
  const both = openCells({ first: moving("b"), second: moving("c") });
  await expect(both.read(null)).rejects.toMatchObject({ kind: "unavailable", retryAfterSeconds: 1 });
  expect(both.asked).toEqual(["first", "second"]);
  const same = openCells({ first: moving() });
  await expect(same.read(null)).rejects.toMatchObject({ kind: "unavailable", retryAfterSeconds: 1 });
  expect(same.asked).toEqual(["first"]);
});

it("any other failure is the caller's to see, at once, also that the key is not valid any more", async () => {
  const late = openCells({ first: new AppError("timeout", "Late") });
  await expect(late.read(null, "b")).rejects.toMatchObject({ kind: "timeout" });
  const revoked = openCells({ first: moving() });
  await expect(revoked.read(null, new AppError("invalid_key", "Revoked"))).rejects.toMatchObject({ kind: "invalid_key" });
  expect([late.asked, revoked.asked]).toEqual([["first"], ["first"]]);
});
