import { randomBytes } from "node:crypto";
import { chmod, rm } from "node:fs/promises";
import { join } from "node:path";
import { deleteEmbeddedData, startEmbeddedPostgres } from "@brand-records/postgres/embedded";
import { dropDatabasesOfRun, makeOwnedFolder, removeOrphanedFolders } from "@brand-records/testkit";
import { own } from "./started-services.ts";

const PREFIX = "brand-records-test-";

/** The data is deleted with the run: it need not survive a power cut. */
const SETTINGS = { fsync: "off", full_page_writes: "off", synchronous_commit: "off", max_connections: "300" };

export async function startPostgres(): Promise<void> {
  const existing = process.env["TEST_POSTGRES_URL"];
  if (existing !== undefined && existing !== "") {
    own("databases", dropDatabasesOfRun);
    return;
  }
  await removeOrphanedFolders(PREFIX, removeData);
  const folder = await makeOwnedFolder(PREFIX);
  const dataDir = join(folder, "postgres");
  own("postgres data", () => removeData(folder));
  // Under root, Postgres runs as another user, who must be able to enter it.
  await chmod(folder, 0o755);
  const postgres = await startEmbeddedPostgres({ dataDir, password: randomBytes(12).toString("hex"), settings: SETTINGS });
  own("postgres", () => postgres.stop());
  process.env["TEST_POSTGRES_URL"] = postgres.url;
}

async function removeData(folder: string): Promise<void> {
  await deleteEmbeddedData(join(folder, "postgres"));
  await rm(folder, { recursive: true, force: true });
}
