import type { Assistant } from "./assistant.ts";

/** A statement on the tables of records. `$1` is the brand. */
export interface Truth {
  readonly sql: string;
  /** `$2` and on. */
  readonly values?: readonly unknown[];
}

/** Ids that questions name: a brand's people read them in an event or in the workspace. */
export interface Subjects {
  readonly submission: string;
  readonly payout: string;
  readonly conversion: string;
  readonly link: string;
}

/** A question that the records answer. */
export interface AnsweredQuestion {
  readonly question: string;
  /** Calls that it may take. */
  readonly callsMax: number;
  /** Returns rows, each with the names that the answer has. */
  truth(subjects: Subjects): Truth;
  answer(assistant: Assistant, subjects: Subjects): Promise<object[]>;
}

/** A question that an assistant must not try to answer from the lists. */
export interface UnansweredQuestion {
  readonly question: string;
  readonly reason: string;
  /** The words of the instructions by which a model knows. */
  readonly instruction: string;
}

export const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/** Counts values, in alphabetical order: the rows of `select …, count(*) … group by 1 order by 1`. */
export function countBy<const Name extends string>(name: Name, values: readonly (string | null)[]): { [key: string]: unknown }[] {
  const counts = Map.groupBy(values, (value) => value);
  return [...counts]
    .map(([value, all]) => ({ [name]: value, count: all.length }))
    .toSorted((a, b) => (String(a[name]) < String(b[name]) ? -1 : 1));
}

/** Manila's months, weeks and days, as bounds of created_at. */
export const OCTOBER = { created_from: "2026-10-01T00:00:00+08:00", created_before: "2026-11-01T00:00:00+08:00" };

export const isWithin = ({ created_from, created_before }: typeof OCTOBER, time: string | null): boolean =>
  time !== null && Date.parse(time) >= Date.parse(created_from) && Date.parse(time) < Date.parse(created_before);
