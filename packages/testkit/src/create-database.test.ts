import pg from "pg";
import { createDatabase, type TestDatabase } from "./create-database.ts";

const created: TestDatabase[] = [];
const create = async (...args: Parameters<typeof createDatabase>): Promise<TestDatabase> => {
  const database = await createDatabase(...args);
  created.push(database);
  return database;
};

describe("createDatabase", () => {
  afterEach(async () => {
    for (const database of created.splice(0)) await database.drop();
  });

  it("prepares the template once for concurrent calls", async () => {
    let prepared = 0;
    const prepare = async (url: string): Promise<void> => {
      prepared += 1;
      await query(url, "create table colors (name text); insert into colors values ('violet')");
    };
    const databases = await Promise.all([1, 2, 3, 4].map(() => create("prepared_once", prepare)));
    expect(prepared).toBe(1);
    for (const { url } of databases) expect(await query(url, "select name from colors")).toEqual([{ name: "violet" }]);
  });

  it("isolates the clones of a template from each other", async () => {
    const prepare = (url: string): Promise<void> => query(url, "create table colors (name text)").then(() => undefined);
    const [first, second] = [await create("apart", prepare), await create("apart", prepare)];
    await query(first.url, "insert into colors values ('violet')");
    expect(await query(second.url, "select name from colors")).toEqual([]);
  });

  it("never clones a template whose preparation failed, and prepares it again", async () => {
    const fail = async (): Promise<void> => {
      throw new Error("migration 0002 is broken");
    };
    await expect(create("fails_first", fail)).rejects.toThrow("migration 0002 is broken");
    await create("fails_first", (url) => query(url, "create table colors (name text)").then(() => undefined));
    const second = await create("fails_first", fail);
    expect(await query(second.url, "select * from colors")).toEqual([]);
  });

  it("drops a database that has open sessions", async () => {
    const database = await createDatabase("in_use");
    const session = new pg.Client({ connectionString: database.url });
    await session.connect();
    session.on("error", () => {}); // Postgres sends the reason before it disconnects.
    await database.drop();
    await expect(query(database.url, "select 1")).rejects.toMatchObject({ code: "3D000" });
  });
});

async function query(url: string, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(sql)).rows as unknown[];
  } finally {
    await client.end();
  }
}
