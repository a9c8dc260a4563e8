import { readFile, writeFile } from "node:fs/promises";
import process from "node:process";

/** Writes a generated file; with `--check` among the arguments it compares instead, and the exit code is 1 if the file differs. */
export async function writeOrCheck(path, text, script) {
  const file = new URL(`../${path}`, import.meta.url);
  if (!process.argv.includes("--check")) return writeFile(file, text);
  if (text === (await readFile(file, "utf8"))) return;
  process.stderr.write(`${path} is not up to date. Run: npm run ${script}\n`);
  process.exitCode = 1;
}
