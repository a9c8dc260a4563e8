import type { Services } from "../src/services.ts";

/** The services of a gateway whose records are these methods, in one cell. */
export function withRecords(records: object): Services {
  const read = async (_principal: unknown, _context: unknown, work: (inCell: object) => unknown): Promise<unknown> => work(records);
  return { records: { read } } as unknown as Services;
}
