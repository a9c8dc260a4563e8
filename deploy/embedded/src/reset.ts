import "@brand-records/config/require-node";
import { rmSync } from "node:fs";
import { deleteEmbeddedData } from "@brand-records/postgres/embedded";
import { parseConfig } from "./config.ts";
import { LaunchError } from "./requirements.ts";
import { takeLauncherLock } from "./launcher-lock.ts";
import { cellFiles, cellsOf, localFiles, observeFiles } from "./local-files.ts";

/** Deletes the embedded database, the keys, the logs and what npm run observe has stored. Does not touch the database that DATABASE_URL names. */
const config = parseConfig(process.env);
const files = localFiles(config.LOCAL_DIR);
try {
  await takeLauncherLock(files);
  await takeLauncherLock(observeFiles(files));
  await deleteEmbeddedData(files.database);
  for (const cell of cellsOf(files, 1)) await deleteEmbeddedData(cellFiles(files, cell).database);
  rmSync(files.directory, { recursive: true, force: true });
  process.stdout.write("Deleted the embedded database, keys and logs. npm start makes new ones.\n");
} catch (error) {
  if (!(error instanceof LaunchError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
