/** A statement that is prepared once per connection under its name: parsing costs more than most of them. */
export interface Statement {
  readonly name: string;
  readonly text: string;
}

/** Where statements run: the pool, or one transaction. */
export interface Sql {
  query<Row>(statement: Statement | string, values?: readonly unknown[]): Promise<Row[]>;
}
