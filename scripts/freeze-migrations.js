import { createHash } from "node:crypto";
import { globSync, readFileSync, writeFileSync } from "node:fs";

/** Writes the checksums of all migrations, for a release: test/structure/released-migrations.test.ts keeps them from then on. */

const paths = globSync("services/*/migrations/0*.sql").toSorted();
const checksums = paths.map((path) => [path, createHash("sha256").update(readFileSync(path)).digest("hex")]);
writeFileSync("test/structure/released-migrations.json", `${JSON.stringify(Object.fromEntries(checksums), null, 2)}\n`);
