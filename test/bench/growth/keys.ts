import { createHmac, randomBytes } from "node:crypto";
import { generateKey, keyDigest, keyHint } from "@brand-records/ids";
import { VerificationServiceService } from "@brand-records/proto/accounts/v1";
import { connectRpc, newCallContext, type RpcClient } from "@brand-records/rpc";
import { type BenchDatabase, migrateService, withClient } from "../harness/databases.ts";
import { type Program, type ProgramOptions, ROOT } from "../harness/programs.ts";
import { compareSizes, type Growth, type Side } from "./compare-sizes.ts";
import { BRANDS_SMALL, KEYS } from "./settings.ts";
import { scriptIn } from "../../program-script.ts";

const CALL_MS = 10_000;
const PEPPER = randomBytes(32);

/** Compares the verification of a key at accounts, with few brands and with many. Each brand has one key. */
export async function measureKeys(
  createDatabase: (name: string) => Promise<BenchDatabase>,
  brands: number,
  start: (program: ProgramOptions) => Program,
): Promise<Growth> {
  const few = await openSide(await createDatabase("keys_few"), BRANDS_SMALL, "accounts-few", start);
  const many = await openSide(await createDatabase("keys_many"), brands, "accounts-many", start);
  try {
    return await compareSizes(few, many);
  } finally {
    for (const side of [few, many]) await side.stop();
  }
}

async function openSide(
  database: BenchDatabase,
  brands: number,
  name: string,
  start: (program: ProgramOptions) => Program,
): Promise<Side & { stop(): Promise<void> }> {
  await migrateService(database, "accounts");
  const digests = await fill(database, brands);
  const env = { DATABASE_URL: database.databaseUrl, KEY_PEPPERS: `1:${PEPPER.toString("base64")}`, STOP_GRACE_MS: "0" };
  const program = start({ name, script: scriptIn(ROOT, "accounts"), env });
  const { rpc_port } = (await program.ready) as { rpc_port: number };
  const client: RpcClient<VerificationServiceService> = connectRpc(VerificationServiceService, `127.0.0.1:${rpc_port}`);
  let calls = 0;
  return {
    database,
    call: () => client.verifyKey({ key_sha256: digests[calls++ % digests.length] ?? Buffer.alloc(32) }, newCallContext(CALL_MS, "bench")),
    async stop() {
      client.stop();
      await program.stop();
    },
  };
}

/** Returns the digests of some brands' keys. The other keys have hashes of nothing. */
async function fill({ benchUrl }: BenchDatabase, brands: number): Promise<Buffer[]> {
  const keys = Array.from({ length: Math.min(KEYS, brands) }, () => generateKey("live"));
  await withClient(benchUrl, async (client) => {
    await client.query(
      `insert into accounts.brands (id, name, tier, verified, epoch_changed_at, created_at)
       select 'brd_' || n, 'Brand ' || n, 'plus', true, now() - interval '1 day', now() - interval '1 day' from generate_series(1, $1::int) n`,
      [brands],
    );
    await client.query(
      `insert into accounts.keys (id, brand_id, environment, name, permissions, hint, pepper_version, key_hash, created_by)
       select 'key_' || n, 'brd_' || n, 'live', 'Growth', '{records:read}', coalesce(($3::text[])[n % $4 + 1], 'none'), 1,
              case when n % ($1::int / $4) = 0 and n / ($1::int / $4) <= $4 then ($2::bytea[])[n / ($1::int / $4)] else sha256(n::text::bytea) end,
              'owner@bench.example'
         from generate_series(1, $1::int) n`,
      [brands, keys.map((key) => createHmac("sha256", PEPPER).update(keyDigest(key)).digest()), keys.map(keyHint), keys.length],
    );
    await client.query("vacuum analyze");
    await client.query("checkpoint");
  });
  return keys.map(keyDigest);
}
