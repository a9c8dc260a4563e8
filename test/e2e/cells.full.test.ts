import { openPool, type Database } from "@brand-records/postgres";
import { freePort } from "@brand-records/postgres/embedded";
import { ImportServiceService } from "@brand-records/proto/records/v1";
import { connectRpc } from "@brand-records/rpc";
import { startProcess, type ServiceProcess, type TestDatabase } from "@brand-records/testkit";
import { metricsOf } from "../admin-port.ts";
import { GENERATIONS, post, toolCall } from "../mcp.ts";
import { scriptOf } from "../program-script.ts";
import { seedBrand } from "../seed-brand.ts";
import { createStackDatabase } from "../stack/database.ts";
import { startStack, type Stack, type TestBrand } from "../stack.ts";

/** One promise: pages come from the cell that has the brand, from the next request on, and never empty from one that does not. */

const SIZES = { campaigns: 1, submissions: 1, payouts: 1, deposits: 0, conversions: 0, links: 3 };

let stack: Stack;
let database: TestDatabase;
let records: ServiceProcess;
/** The databases of the cell without a name and of "b". */
let first: Database;
let other: Database;

beforeAll(async () => {
  const port = await freePort();
  database = await createStackDatabase();
  stack = await startStack({
    gateways: 2,
    redisUrl: process.env["TEST_REDIS_URL"] ?? "",
    env: { RATE_LIMIT_PLUS: "100000" },
    envOf: { gateway: { RECORDS_CELLS: `b=127.0.0.1:${port}` } },
  });
  records = await startProcess({
    name: "records",
    script: scriptOf("records"),
    env: { DATABASE_URL: database.url, RPC_PORT: String(port), STOP_GRACE_MS: "0" },
  });
  [first, other] = [stack.databaseUrl, database.url].map((url) => openPool({ url, max: 2, applicationName: "test" })) as [
    Database,
    Database,
  ];
});
afterAll(async () => {
  await Promise.all([first.stop(), other.stop()]);
  await records.kill();
  await stack.stop();
  await database.drop();
});

/** The records of a cell are told apart by what they were made from. */
async function seed(brand: TestBrand, address: string, from: number): Promise<void> {
  const importing = connectRpc(ImportServiceService, address);
  await seedBrand({ importing }, brand.id, SIZES, { seed: from });
  importing.stop();
}
const addressOfB = (): string => `127.0.0.1:${(records.ready as { rpc_port: number }).rpc_port}`;

const letIn = (cell: Database, ...brands: string[]): Promise<unknown> => cell.query("select records.become_cell($1)", [brands]);
const close = (cell: Database, brand: TestBrand, to: string): Promise<unknown> =>
  cell.query("update records.brands set state = 'closed', moved_to = $2 where brand_id = $1", [brand.id, to]);

const idsIn = async (cell: Database, brand: TestBrand): Promise<string[]> =>
  (await cell.query<{ id: string }>("select id from records.links where brand_id = $1 order by created_at desc, id desc", [brand.id])).map(
    ({ id }) => id,
  );

/** The ids of links by each gateway, over HTTP and as each assistant reads them. */
async function pagesOf({ key }: TestBrand): Promise<string[][]> {
  const pages = stack.gateways.map(async ({ url }, gateway) => {
    const rest = (await (await stack.get("/api/v1/links", key, gateway)).json()) as { data: { id: string }[] };
    const calls = await Promise.all(GENERATIONS.map((generation) => post(url, key, toolCall(generation, "list_links"))));
    return [rest, ...calls.map(({ body }) => body.result.structuredContent)].map(({ data }) => data.map(({ id }) => id));
  });
  return (await Promise.all(pages)).flat();
}
const everywhere = (ids: readonly string[]) => Array.from({ length: 6 }, () => ids);

async function expectUnavailable(brand: TestBrand, retryAfter: string): Promise<void> {
  for (const [gateway, { url }] of stack.gateways.entries()) {
    const response = await stack.get("/api/v1/links", brand.key, gateway);
    expect([response.status, response.headers.get("retry-after")]).toEqual([503, retryAfter]);
    expect(await response.json()).toMatchObject({ error: { code: "unavailable" } });
    for (const generation of GENERATIONS) {
      const { status, headers } = await post(url, brand.key, toolCall(generation, "list_links"));
      expect([status, headers.get("retry-after")]).toEqual([503, retryAfter]);
    }
  }
}

it("a page takes one call and no verification, as long as nothing is in a cell", async () => {
  const brand = await stack.createBrand();
  const calls = async () => {
    const text = await metricsOf(stack.gateways[0].process);
    const of = (method: string): number =>
      Number(new RegExp(`^rpc_client_duration_seconds_count\\{.*method="${method}".*code="ok".*\\} (\\d+)$`, "m").exec(text)?.[1] ?? 0);
    return [of("/records.v1.RecordsService/ListLinks"), of("/accounts.v1.VerificationService/VerifyKey")];
  };
  await stack.get("/api/v1/links", brand.key);
  const [pages = 0, verifications = 0] = await calls();
  for (let page = 0; page < 10; page += 1) expect((await stack.get("/api/v1/links", brand.key)).status).toBe(200);
  expect(await calls()).toEqual([pages + 10, verifications]);
});

describe("a brand", () => {
  let brand: TestBrand;
  beforeEach(async () => {
    brand = await stack.createBrand();
    await letIn(other);
    await letIn(first, brand.id);
    await seed(brand, stack.addresses.records, 1);
  });

  it("is read in its new cell with the next request, once accounts names it, and in the first again after it has moved back", async () => {
    for (let round = 0; round < 2; round += 1) expect(await pagesOf(brand)).toEqual(everywhere(await idsIn(first, brand)));
    await letIn(other, brand.id);
    await seed(brand, addressOfB(), 2);
    expect(await pagesOf(brand)).toEqual(everywhere(await idsIn(first, brand)));
    await stack.setCell(brand, "b");
    expect(await pagesOf(brand)).toEqual(everywhere(await idsIn(other, brand)));
    await stack.setCell(brand, null);
    expect(await pagesOf(brand)).toEqual(everywhere(await idsIn(first, brand)));
  });

  it("is read where its cell says that it went, before accounts names it", async () => {
    await pagesOf(brand);
    await letIn(other, brand.id);
    await seed(brand, addressOfB(), 2);
    await close(first, brand, "b");
    expect(await pagesOf(brand)).toEqual(everywhere(await idsIn(other, brand)));
  });

  it("that neither cell lets in is unavailable, never empty", async () => {
    await pagesOf(brand);
    await first.query("delete from records.brands where brand_id = $1", [brand.id]);
    await expectUnavailable(brand, "1");
    await stack.setCell(brand, "b");
    await expectUnavailable(brand, "1");
  });

  it("in a cell that the gateways do not know is unavailable", async () => {
    await stack.setCell(brand, "nowhere");
    await expectUnavailable(brand, "5");
  });
});
