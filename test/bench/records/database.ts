import { createHmac, randomBytes } from "node:crypto";
import { join } from "node:path";
import { generateKey, keyDigest, keyHint } from "@brand-records/api-key";
import { migrate } from "@brand-records/postgres";
import { newId } from "@brand-records/typeid";
import pg from "pg";
import { BRANDS, brandId, INSERT_BRANDS, INSERT_KEYS, INSERT_RECORDS, NEW_BRANDS, NEW_KEYS } from "./dataset.ts";
import type { KeySets } from "./load/messages.ts";
import { ROOT } from "../program.ts";
import { KEY_SETS } from "./settings.ts";

const PEPPER_VERSION = 1;

export interface FilledDatabase {
  readonly keySets: KeySets;
  /** What the keys are hashed with, for accounts. */
  readonly keyPeppers: string;
  readonly postgresVersion: string;
}

/** Creates the services' schemas and inserts the data set; then analyses it and writes a checkpoint, so that no work is left. */
export async function fill(url: string): Promise<FilledDatabase> {
  for (const service of ["accounts", "records"]) {
    await migrate({ url, schema: service, directory: join(ROOT, "services", service, "migrations") });
  }
  const client = new pg.Client({ connectionString: url, application_name: "bench" });
  await client.connect();
  try {
    await client.query(INSERT_RECORDS);
    const { keySets, keyPeppers } = await insertBrands(client);
    await client.query("vacuum analyze");
    await client.query("checkpoint");
    const { rows } = await client.query<{ server_version: string }>("show server_version");
    return { keySets, keyPeppers, postgresVersion: rows[0]?.server_version ?? "unknown" };
  } finally {
    await client.end();
  }
}

async function insertBrands(client: pg.Client): Promise<Pick<FilledDatabase, "keySets" | "keyPeppers">> {
  const pepper = randomBytes(32);
  const brandIds = Array.from({ length: BRANDS }, (_, brand) => brandId(brand));
  await client.query(INSERT_BRANDS, NEW_BRANDS.values(brandIds.map((id) => ({ id }))));
  const keySets: string[][] = [];
  while (keySets.length < KEY_SETS) keySets.push(await insertKeys(client, brandIds, pepper));
  return { keySets, keyPeppers: `${PEPPER_VERSION}:${pepper.toString("base64")}` };
}

/** Stores each key as the HMAC-SHA-256, under a pepper, of its SHA-256. */
async function insertKeys(client: pg.Client, brandIds: readonly string[], pepper: Buffer): Promise<string[]> {
  const hashOf = (key: string): Buffer => createHmac("sha256", pepper).update(keyDigest(key)).digest();
  const made = brandIds.map((brand_id) => ({ brand_id, key: generateKey("live") }));
  const rows = made.map(({ brand_id, key }) => ({ key_id: newId("key"), brand_id, hint: keyHint(key), key_hash: hashOf(key) }));
  await client.query(INSERT_KEYS, [PEPPER_VERSION, ...NEW_KEYS.values(rows)]);
  return made.map(({ key }) => key);
}
