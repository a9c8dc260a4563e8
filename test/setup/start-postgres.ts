import { randomBytes } from "node:crypto";
import { chmod, mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { deleteEmbeddedData, isAlive, startEmbeddedPostgres } from "@brand-records/postgres/embedded";
import { dropDatabasesOfRun } from "@brand-records/testkit";
import { own } from "./started-services.ts";

const PREFIX = "brand-records-test-";

/** Nothing in it survives the run, so nothing must survive a power cut. */
const SETTINGS = { fsync: "off", full_page_writes: "off", synchronous_commit: "off", max_connections: "300" };

export async function startPostgres(): Promise<void> {
  const theirs = process.env["TEST_POSTGRES_URL"];
  if (theirs !== undefined && theirs !== "") {
    own("databases", dropDatabasesOfRun);
    return;
  }
  await removeLeftovers();
  const folder = await mkdtemp(join(tmpdir(), `${PREFIX}${process.pid}-`));
  const dataDir = join(folder, "postgres");
  own("postgres data", () => remove(folder));
  // Under root Postgres runs as somebody else, who must enter it.
  await chmod(folder, 0o755);
  const postgres = await startEmbeddedPostgres({ dataDir, password: randomBytes(12).toString("hex"), settings: SETTINGS });
  own("postgres", () => postgres.stop());
  process.env["TEST_POSTGRES_URL"] = postgres.url;
}

/** Of runs that were killed before they could clean up. Another user's are another user's to remove. */
async function removeLeftovers(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    if (!name.startsWith(PREFIX) || isAlive(Number.parseInt(name.slice(PREFIX.length), 10))) continue;
    const folder = join(tmpdir(), name);
    if ((await stat(folder)).uid === process.getuid?.()) await remove(folder);
  }
}

async function remove(folder: string): Promise<void> {
  await deleteEmbeddedData(join(folder, "postgres"));
  await rm(folder, { recursive: true, force: true });
}
