import type { SeqRange, Snapshot } from "../storage/outbox.ts";

const MAX = Number.MAX_SAFE_INTEGER;

interface Gap extends SeqRange {
  /** Whoever may still fill it had begun before this transaction. */
  readonly xmax: bigint;
}

/**
 * Where in the outbox rows may still appear. Reading from the lowest sequence each time would walk over all the dead rows
 * of what was published; reading from the highest seen would miss those of a transaction that took its numbers early and
 * committed late. So: everything above the highest seen, and the numbers below it that were not there. Such a gap closes
 * when no transaction of the time it was noticed runs any more: then its numbers were rolled back.
 *
 * Rows are handed on in the order of their sequence, which for each record is the order of its changes: the row lock
 * holds its next change, and thereby its next number, back until this one is visible.
 */
export class OutboxWindow {
  #highest = 0;
  #gaps: readonly Gap[] = [];

  /** What to read next, ascending. */
  get ranges(): SeqRange[] {
    return [...this.#gaps.map(({ after, upTo }) => ({ after, upTo })), { after: this.#highest, upTo: MAX }];
  }

  /**
   * Notes what a reading of `ranges` found.
   *
   * @param seqs ascending
   * @param complete whether there was nothing more to find; else nothing is known above the last of `seqs`
   */
  note(seqs: readonly number[], complete: boolean, { xmin, xmax }: Snapshot): void {
    const known = complete ? MAX : (seqs.at(-1) ?? 0);
    const gaps: Gap[] = [];
    const keep = (after: number, upTo: number, gap: bigint): void => {
      if (after < upTo) gaps.push({ after, upTo, xmax: gap });
    };
    let index = 0;
    for (const gap of this.#gaps) {
      let after = gap.after;
      const readUpTo = Math.min(gap.upTo, known);
      const closed = xmin >= gap.xmax;
      for (; index < seqs.length && (seqs[index] as number) <= gap.upTo; index += 1) {
        const seq = seqs[index] as number;
        if (!closed) keep(after, seq - 1, gap.xmax);
        after = seq;
      }
      if (!closed) keep(after, readUpTo, gap.xmax);
      // Not read this time, so nothing is known.
      keep(Math.max(after, readUpTo), gap.upTo, gap.xmax);
    }
    for (; index < seqs.length; index += 1) {
      const seq = seqs[index] as number;
      keep(this.#highest, seq - 1, xmax);
      this.#highest = seq;
    }
    this.#gaps = joined(gaps);
  }
}

/** Neighbours become one: a rolled back transaction of ten thousand changes is one gap. */
function joined(gaps: readonly Gap[]): Gap[] {
  const result: Gap[] = [];
  for (const gap of gaps) {
    const last = result.at(-1);
    if (last !== undefined && last.upTo === gap.after && last.xmax === gap.xmax) result[result.length - 1] = { ...last, upTo: gap.upTo };
    else result.push(gap);
  }
  return result;
}
