import { ATTRIBUTES, startChildSpan, type TraceSpan } from "@brand-records/telemetry";
import type pg from "pg";
import { fromPostgresError } from "./errors.ts";

/** A statement that is prepared once per connection under its name, because parsing most statements costs more than running them. */
export interface Statement {
  readonly name: string;
  readonly text: string;
  /** Postgres plans every call for its values, and prepares nothing: of optional filters that it does not know it expects too few rows. */
  readonly isPlannedPerCall?: true;
}

/** Whether Postgres may serve any values with one plan. */
export const isPrepared = (statement: Statement | string): statement is Statement =>
  typeof statement !== "string" && statement.isPlannedPerCall !== true;

/** Runs statements: a pool, a transaction or a session. */
export interface Sql {
  query<Row>(statement: Statement | string, values?: readonly unknown[]): Promise<Row[]>;
}

/** Grace beyond a statement's timeout before a silent server counts as dead. */
export const RESPONSE_GRACE_MS = 2_000;

/** Time without a byte after which the operating system asks whether the other side is there. Its default is two hours. */
export const KEEPALIVE_MS = 10_000;

export interface Bounds {
  /** Milliseconds until the server's response, its own statement timeout included. */
  readonly query_timeout: number;
}

/** Called with every error before it is converted. */
export type OnError = (error: unknown) => void;

/** @throws AppError `unavailable` or `timeout` if the database is the reason; else the error of pg */
export async function run<Row>(
  on: pg.Pool | pg.ClientBase,
  statement: Statement | string,
  values: readonly unknown[] | undefined,
  bounds: Bounds,
  onError?: OnError,
): Promise<Row[]> {
  const span = startStatementSpan(statement);
  const text = typeof statement === "string" ? statement : statement.text;
  const config = isPrepared(statement) ? { name: statement.name, text } : { text };
  try {
    const result = await on.query({ ...config, ...bounds, values: (values ?? []) as unknown[] });
    // pg's timer of the limit refers to the result, and V8 moves what a timer refers to into the old generation, where it stays for long.
    const { rows } = result;
    result.rows = [];
    return rows as Row[];
  } catch (error) {
    onError?.(error);
    failStatement(span, error);
    throw fromPostgresError(error);
  } finally {
    span?.end();
  }
}

/** The time until a connection is free is part of the span. Its name is the statement's: the text may hold what a caller sent. */
function startStatementSpan(statement: Statement | string): TraceSpan | undefined {
  const name = typeof statement === "string" ? firstWord(statement) : statement.name;
  return startChildSpan(name, { kind: "client", attributes: { [ATTRIBUTES.dbSystem]: "postgresql", [ATTRIBUTES.dbSummary]: name } });
}

const firstWord = (text: string): string => /^\s*(\w+)/.exec(text)?.[1]?.toUpperCase() ?? "SQL";

function failStatement(span: TraceSpan | undefined, error: unknown): void {
  const sqlState = (error as { code?: unknown }).code;
  const isSqlState = typeof sqlState === "string" && /^[0-9A-Z]{5}$/.test(sqlState);
  if (isSqlState) span?.set({ [ATTRIBUTES.dbStatus]: sqlState });
  span?.fail(isSqlState ? sqlState : "no_response");
}

const statement = { name: "database_time", text: "select (extract(epoch from clock_timestamp()) * 1000)::float8 as now" };

/** Returns what the database's clock shows, in milliseconds since 1970. */
export async function databaseTime(sql: Sql): Promise<number> {
  const [row] = await sql.query<{ readonly now: number }>(statement);
  return row!.now;
}
