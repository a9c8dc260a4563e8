/** Postgres types of columns, and the values that pg sends for them. */
interface ColumnValues {
  readonly text: string;
  readonly uuid: string;
  /** Where a row is: `ctid`. */
  readonly tid: string;
  readonly boolean: boolean;
  readonly smallint: number;
  readonly int: number;
  readonly bigint: number;
  readonly float8: number;
  /** RFC 3339. */
  readonly timestamptz: string;
  /** Serialized. */
  readonly json: string;
  /** Serialized. */
  readonly jsonb: string;
  readonly bytea: Buffer;
}

type ColumnType = keyof ColumnValues;

/** The columns of a batch, by name. Only a column whose type ends in `null` takes nulls. */
type Columns = Readonly<Record<string, ColumnType | `${ColumnType} null`>>;

type ValueOf<Type> = Type extends `${infer Base extends ColumnType} null`
  ? ColumnValues[Base] | null
  : Type extends ColumnType
    ? ColumnValues[Type]
    : never;

type RowOf<C extends Columns> = { readonly [Name in keyof C]: ValueOf<C[Name]> };

/** No further demand if a row has no other fields than the batch has columns. */
type Exactly<C extends Columns, Row> =
  Exclude<keyof Row, keyof C> extends never ? unknown : { readonly fieldsWithoutColumn: Exclude<keyof Row, keyof C> };

/** SQL and values of a statement that takes many rows as one array for each column. */
export interface UnnestedRows<C extends Columns> {
  /** The rows as a relation: `unnest($1::text[], $2::int[]) as t(receiver_id, room)`. */
  readonly relation: string;
  /** The names of the columns, to insert `select * from` the relation into them. */
  readonly columns: string;
  /** The array of each column as a parameter with its cast: `$1::text[]`. */
  readonly arrays: { readonly [Name in keyof C]: string };
  /** Returns the arrays in the order of their parameters. A row with a column too few, too many or of another type does not compile. */
  values<Row extends RowOf<C>>(rows: readonly Row[] & Exactly<C, Row>): unknown[][];
}

/** A row of a batch, as its columns declare it. */
export type BatchRow<Batch> = Batch extends UnnestedRows<infer C> ? RowOf<C> : never;

interface UnnestOptions {
  /** Alias of the relation. Default: `t`. */
  readonly as?: string;
  /** Parameters of the statement that come before the arrays. Default: 0. */
  readonly after?: number;
}

/**
 * Names the columns of a batch and their types once, so that no array can get into the place of another: they are matched by name, never
 * by position. Builds the SQL when it is called: call it once per statement, not once per batch.
 */
export function unnestRows<const C extends Columns>(columns: C, { as = "t", after = 0 }: UnnestOptions = {}): UnnestedRows<C> {
  const names = Object.keys(columns);
  const arrays = Object.entries(columns).map(([name, type], index) => [name, `$${after + index + 1}::${type.replace(/ null$/, "")}[]`]);
  const list = names.join(", ");
  return {
    relation: `unnest(${arrays.map(([, array]) => array).join(", ")}) as ${as}(${list})`,
    columns: list,
    arrays: Object.fromEntries(arrays) as UnnestedRows<C>["arrays"],
    values: (rows) => names.map((name) => rows.map((row) => row[name as keyof typeof row])),
  };
}
