import fc from "fast-check";
import { OutboxWindow } from "./outbox-window.ts";

const MAX = Number.MAX_SAFE_INTEGER;
/** @param xmin oldest transaction that ran during the read. @param removedBy transaction that removed what was read */
const note = (window: OutboxWindow, seqs: number[], complete: boolean, xmin: number, removedBy = xmin): void =>
  window.note(seqs, complete, BigInt(xmin), BigInt(removedBy));

it("starts with all numbers, and continues above the highest that was read", () => {
  const window = new OutboxWindow();
  expect(window.ranges).toEqual([{ after: 0, upTo: MAX }]);
  note(window, [1, 2, 3], true, 10);
  expect(window.ranges).toEqual([{ after: 3, upTo: MAX }]);
});

it("keeps a gap until no running transaction can fill it", () => {
  const window = new OutboxWindow();
  note(window, [1, 4, 8], true, 10, 12);
  const open = [
    { after: 1, upTo: 3 },
    { after: 4, upTo: 7 },
    { after: 8, upTo: MAX },
  ];
  expect(window.ranges).toEqual(open);
  // Transaction 11 still runs.
  note(window, [], true, 11, 15);
  expect(window.ranges).toEqual(open);
  note(window, [6], true, 11, 15);
  expect(window.ranges).toEqual([
    { after: 1, upTo: 3 },
    { after: 4, upTo: 5 },
    { after: 6, upTo: 7 },
    { after: 8, upTo: MAX },
  ]);
  note(window, [], true, 12, 15);
  expect(window.ranges).toEqual([{ after: 8, upTo: MAX }]);
});

it("keeps the ranges that a full batch did not reach", () => {
  const window = new OutboxWindow();
  note(window, [1, 10, 20], true, 10, 12);
  // The batch ended at 5: 6 to 9 and 11 to 19 were not read, though no running transaction can fill them.
  note(window, [4, 5], false, 12, 12);
  expect(window.ranges).toEqual([
    { after: 5, upTo: 9 },
    { after: 10, upTo: 19 },
    { after: 20, upTo: MAX },
  ]);
});

/**
 * Transactions take numbers and commit or roll back in any order, while a relay reads in batches. For every interleaving,
 * each committed row is read once, and no gap remains when no transaction runs.
 */
it("reads every committed row exactly once, for any order in which transactions end", () => {
  const anyStep = fc.oneof(
    fc.record({ kind: fc.constant("take" as const), transaction: fc.nat(5) }),
    fc.record({ kind: fc.constant("end" as const), transaction: fc.nat(5), commits: fc.boolean() }),
    fc.record({ kind: fc.constant("read" as const), limit: fc.integer({ min: 1, max: 4 }) }),
  );
  fc.assert(
    fc.property(fc.array(anyStep, { maxLength: 80 }), (steps) => {
      const window = new OutboxWindow();
      const running = new Map<number, { xid: number; seqs: number[] }>();
      let [nextXid, nextSeq, lastEnded] = [1, 1, 0];
      const visible = new Set<number>();
      const committed: number[] = [];
      const relayed: number[] = [];
      const read = (limit: number): number => {
        const all = [...visible]
          .filter((seq) => window.ranges.some(({ after, upTo }) => seq > after && seq <= upTo))
          .toSorted((a, b) => a - b);
        const rows = all.slice(0, limit);
        const xids = [...running.values()].map(({ xid }) => xid);
        for (const seq of rows) visible.delete(seq);
        relayed.push(...rows);
        // As Postgres: one past the last that has ended, if none below it runs.
        const xmin = Math.min(lastEnded + 1, ...xids);
        // Between the read and the removal others may begin: numbers that they take are above all that were read.
        const removedBy = rows.length === 0 ? xmin : nextXid++;
        if (rows.length > 0) lastEnded = Math.max(lastEnded, removedBy);
        note(window, rows, rows.length < limit, xmin, removedBy);
        return rows.length;
      };
      const end = (slot: number, commits: boolean): void => {
        const transaction = running.get(slot);
        running.delete(slot);
        lastEnded = Math.max(lastEnded, transaction?.xid ?? 0);
        if (!commits || transaction === undefined) return;
        for (const seq of transaction.seqs) visible.add(seq);
        committed.push(...transaction.seqs);
      };
      for (const step of steps) {
        if (step.kind === "read") read(step.limit);
        else if (step.kind === "end") end(step.transaction, step.commits);
        else {
          const transaction = running.get(step.transaction) ?? { xid: nextXid++, seqs: [] };
          running.set(step.transaction, transaction);
          transaction.seqs.push(nextSeq++);
        }
      }
      for (const slot of running.keys()) end(slot, true);
      while (read(3) > 0);
      read(3);
      expect(relayed.toSorted((a, b) => a - b)).toEqual(committed.toSorted((a, b) => a - b));
      expect(window.ranges).toHaveLength(1);
    }),
    { numRuns: 500 },
  );
});
