import type { ResourceName } from "@brand-records/resources";
import type { Assistant } from "./assistant.ts";

/** What questions name. */
export interface Subjects {
  /** Titles of campaigns: clips that are over, and tracked links that are paused. */
  readonly clips: string;
  readonly links: string;
  /** Ids that a brand's people read in an event or in the workspace. */
  readonly submission: string;
  readonly payout: string;
  readonly conversion: string;
  readonly link: string;
  readonly creator: string;
  /** The shop's number of an order. */
  readonly order: string;
}

/** The titles at the demo's size. */
export const CLIPS = "10.10 Papaya Enzyme Cleanser Clip Rush";
export const LINKS = "Kita Kits: Calamansi Glow Serum Links";

/** Calls, and tokens of their results. */
export type Budget = readonly [calls: number, tokens: number];

/**
 * Words by which a model knows how to answer, or that it must not. Rules stand in the instructions, and again at a tool that the question
 * uses, because half of the clients show no instructions. What single fields mean stands at the tool alone.
 */
export interface Facts {
  readonly rules: readonly (string | RegExp)[];
  readonly meanings?: readonly string[];
}

/** A question that the records answer. */
export interface AnsweredQuestion extends Facts {
  readonly question: string;
  /** What it may take on the demo brand, and on the large one: there undefined if it takes more than five calls, and the assistant asks first. */
  readonly budget: { readonly demo: Budget; readonly large?: Budget };
  /** What it names, if anything. */
  readonly about?: keyof Subjects;
  /** A statement on the tables of records. `$1` is the brand, `$2` what the question names. Its rows have the names that the answer has. */
  readonly truth: string;
  answer(assistant: Assistant, subject: string): Promise<object[]>;
}

/** A question that an assistant must not try to answer from the lists. */
export interface UnansweredQuestion extends Facts {
  readonly question: string;
  readonly reason: string;
  /** Whose tool a model would look at. */
  readonly resource: ResourceName;
}

export const RULES = {
  days: "Days are Manila's (+08:00).",
  today: /(was|Today, as listed:) [A-Z][a-z]+day 20\d\d-\d\d-\d\d/,
  weekEarlier: "begin a week earlier",
  dayLater: "end a day later",
  status: "updated_at: last change of anything; a present status came by then.",
  money: "Centavos / 100 are pesos.",
} as const;

/** The rules of every walk. Every tool says them. */
export const WALK_RULES = {
  paging: "next_cursor: call again with it as cursor, the rest unchanged.",
  totals: "never give a total from part of a list",
  asking: "Beyond five pages ask first, say what it takes, offer a shorter period or a script",
} as const;

/** The id of the newest campaign with the title `$2`. */
export const CAMPAIGN = "(select id from records.campaigns where brand_id = $1 and title = $2 order by created_at desc limit 1)";

type Has<Name extends string, Value> = { readonly [Key in Name]: Value };

/** Adds up a field. */
export const sumOf = <Name extends string>(records: readonly Has<Name, number | null>[], name: Name): number =>
  records.reduce((total, record) => total + (record[name] ?? 0), 0);

/** The groups of `group by 1 order by 1`, for keys in ASCII. */
export const groupsOf = <Row, Key extends string | null>(rows: readonly Row[], keyOf: (row: Row) => Key): (readonly [Key, Row[]])[] =>
  [...Map.groupBy(rows, keyOf)].toSorted(([a], [b]) => (String(a) < String(b) ? -1 : 1));

/** The rows of `select …, count(*) … group by 1 order by 1`. */
export const countBy = <Name extends string>(records: readonly Has<Name, string | null>[], name: Name): object[] =>
  groupsOf(records, (record) => record[name]).map(([value, all]) => ({ [name]: value, count: all.length }));

export const sortedBy = <Name extends string, Row extends Has<Name, string>>(rows: readonly Row[], name: Name): Row[] =>
  rows.toSorted((a, b) => (a[name] < b[name] ? -1 : 1));

/** A day in Manila as a bound of created_at. */
export const from = (day: string): string => `${day}T00:00:00+08:00`;

export const [SEPTEMBER, OCTOBER, NOVEMBER] = [from("2026-09-01"), from("2026-10-01"), from("2026-11-01")] as const;
/** Reviews and payouts follow within days: what was reviewed or paid in October was created between these. */
export const AROUND_OCTOBER = { created_from: from("2026-09-24"), created_before: NOVEMBER };

/** Keeps records whose time `name` is in a period; its end is not included. */
export const within =
  <Name extends string>(name: Name, start: string, end = from("2027-01-01")) =>
  (record: Has<Name, string | null>): boolean =>
    Date.parse(record[name] ?? "") >= Date.parse(start) && Date.parse(record[name] ?? "") < Date.parse(end);

/** The month of a time in Manila: `to_char(… at time zone 'Asia/Manila', 'YYYY-MM')`. */
export const monthOf = (time: string): string => new Date(Date.parse(time) + 8 * 3_600_000).toISOString().slice(0, 7);

/** The mean time between two fields, none of which is null, as a whole number of hours, or of days of 24. */
export function meanHours<Start extends string, End extends string>(
  records: readonly Has<Start | End, string | null>[],
  [start, end]: readonly [Start, End],
  unit: 1 | 24 = 1,
): number {
  const durations = records.map((record) => Date.parse(record[end] ?? "") - Date.parse(record[start] ?? ""));
  return Math.round(durations.reduce((total, each) => total + each, 0) / durations.length / 3_600_000 / unit);
}
