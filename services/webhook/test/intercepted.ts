import type { Database, Sql } from "@brand-records/postgres";

/** Calls `before` with each statement, before it runs: those of the pool, and those of transactions. A text alone has the name "". */
export function intercepted(db: Database, before: (statement: { readonly name: string; readonly text: string }) => unknown): Database {
  const over = <S extends Sql>(sql: S): S =>
    Object.assign(Object.create(sql) as S, {
      query: async (...[statement, values]: Parameters<Sql["query"]>) => {
        await before(typeof statement === "string" ? { name: "", text: statement } : statement);
        return sql.query(statement, values);
      },
    });
  const transaction: Database["transaction"] = (work, options) => db.transaction((sql) => work(over(sql)), options);
  return Object.assign(over(db), { transaction });
}
