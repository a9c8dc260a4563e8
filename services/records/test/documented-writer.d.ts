import type pg from "pg";
type Accounts = Pick<pg.Pool, "query"> | {
    query(): Promise<{
        rows: {
            cell: string;
        }[];
    }>;
};
export type InCellOf = <T>(accounts: Accounts, pools: Readonly<Record<string, pg.Pool>>, brandId: string, work: (sql: pg.PoolClient) => Promise<T>) => Promise<T>;
/** Returns the code of docs/platform.md that writes in the cell of a brand. */
export declare function documentedInCellOf(): Promise<InCellOf>;
export {};
