import type { SeqRange } from "../storage/outbox.ts";

const MAX = Number.MAX_SAFE_INTEGER;

interface Gap extends SeqRange {
  /** Transaction before which all those are that can fill the gap. */
  readonly before: bigint;
}

/**
 * The ranges of the outbox in which rows may still appear. Reading from the lowest number each time would scan the dead rows
 * of all published events; reading from the highest would miss a transaction that took its numbers early and committed
 * late. So the window holds everything above the highest number read, and the gaps below it. A gap closes when every
 * transaction that ran when it was noticed has ended: its numbers were rolled back. Which ones that may be, the removal of what was read
 * tells by its own transaction id, which is higher than theirs: a change has an id before its event takes a number. The xmax of a snapshot
 * does not tell: it is that of the last transaction that has ended, plus one, and those that run may be above it.
 *
 * Rows are read in the order of their numbers, which for each record is the order of its changes: the row lock delays the
 * next change, and with it the next number, until this one is visible.
 */
export class OutboxWindow {
  #highest = 0;
  #gaps: readonly Gap[] = [];

  /** The ranges to read next, ascending. */
  get ranges(): SeqRange[] {
    return [...this.#gaps.map(({ after, upTo }) => ({ after, upTo })), { after: this.#highest, upTo: MAX }];
  }

  /**
   * Notes the result of reading `ranges`.
   *
   * @param seqs ascending
   * @param complete whether all ranges were read to their end; else nothing is known above the last of `seqs`
   * @param xmin oldest transaction that ran during the read
   * @param removedBy transaction that removed them after the read; of no meaning without any
   */
  note(seqs: readonly number[], complete: boolean, xmin: bigint, removedBy: bigint): void {
    const known = complete ? MAX : (seqs.at(-1) ?? 0);
    const gaps: Gap[] = [];
    const keep = (after: number, upTo: number, before: bigint): void => {
      if (after < upTo) gaps.push({ after, upTo, before });
    };
    let index = 0;
    for (const gap of this.#gaps) {
      let after = gap.after;
      const readUpTo = Math.min(gap.upTo, known);
      const closed = xmin >= gap.before;
      for (; index < seqs.length && (seqs[index] as number) <= gap.upTo; index += 1) {
        const seq = seqs[index] as number;
        if (!closed) keep(after, seq - 1, gap.before);
        after = seq;
      }
      if (!closed) keep(after, readUpTo, gap.before);
      // This part was not read.
      keep(Math.max(after, readUpTo), gap.upTo, gap.before);
    }
    for (; index < seqs.length; index += 1) {
      const seq = seqs[index] as number;
      keep(this.#highest, seq - 1, removedBy);
      this.#highest = seq;
    }
    this.#gaps = joinAdjacent(gaps);
  }
}

/** Joins adjacent gaps: a rolled back transaction of ten thousand changes is one gap. */
function joinAdjacent(gaps: readonly Gap[]): Gap[] {
  const result: Gap[] = [];
  for (const gap of gaps) {
    const last = result.at(-1);
    if (last !== undefined && last.upTo === gap.after && last.before === gap.before)
      result[result.length - 1] = { ...last, upTo: gap.upTo };
    else result.push(gap);
  }
  return result;
}
