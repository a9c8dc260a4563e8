import { createHmac, randomBytes } from "node:crypto";
import { generateKey, keyDigest, keyHint, newId } from "@brand-records/ids";
import type pg from "pg";
import { migrationsOf, ROOT, type Build } from "../harness/programs.ts";
import { migrateService, withClient } from "../harness/databases.ts";
import { BRANDS, brandId, INSERT_BRANDS, INSERT_KEYS, INSERT_RECORDS, NEW_BRANDS, NEW_KEYS } from "./dataset.ts";
import type { KeySets } from "./load/start-load.ts";
import { KEY_SETS } from "./settings.ts";

const PEPPER_VERSION = 1;

/** API keys of every brand. Databases may share them. */
export interface ApiKeys {
  readonly sets: KeySets;
  /** What the keys are hashed with. */
  readonly pepper: Buffer;
  /** The same, as accounts' setting. */
  readonly keyPeppers: string;
}

export function makeKeys(): ApiKeys {
  const pepper = randomBytes(32);
  const sets = Array.from({ length: KEY_SETS }, () => Array.from({ length: BRANDS }, () => generateKey("live")));
  return { sets, pepper, keyPeppers: `${PEPPER_VERSION}:${pepper.toString("base64")}` };
}

/**
 * Creates the services' schemas, by the migrations of a checkout, and inserts the data set; then analyses it and writes a checkpoint, so
 * that no work is left.
 */
export async function fill(url: string, keys: ApiKeys, checkout: Pick<Build, "folder"> = { folder: ROOT }): Promise<void> {
  for (const schema of ["accounts", "records"] as const) await migrateService({ databaseUrl: url }, schema, migrationsOf(checkout, schema));
  await withClient(url, async (client) => {
    await client.query(INSERT_RECORDS);
    await insertBrands(client, keys);
    await client.query("vacuum analyze");
    await client.query("checkpoint");
  });
}

async function insertBrands(client: pg.Client, { sets, pepper }: ApiKeys): Promise<void> {
  const brandIds = Array.from({ length: BRANDS }, (_, brand) => brandId(brand));
  await client.query(INSERT_BRANDS, NEW_BRANDS.values(brandIds.map((id) => ({ id }))));
  for (const keys of sets) await insertKeys(client, brandIds, keys, pepper);
}

/** Stores each key as the HMAC-SHA-256, under a pepper, of its SHA-256. */
async function insertKeys(client: pg.Client, brandIds: readonly string[], keys: readonly string[], pepper: Buffer): Promise<void> {
  const hashOf = (key: string): Buffer => createHmac("sha256", pepper).update(keyDigest(key)).digest();
  const rows = keys.map((key, brand) => ({
    key_id: newId("key"),
    brand_id: brandIds[brand] ?? "",
    hint: keyHint(key),
    key_hash: hashOf(key),
  }));
  await client.query(INSERT_KEYS, [PEPPER_VERSION, ...NEW_KEYS.values(rows)]);
}
