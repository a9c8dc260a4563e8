import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { closeSync, existsSync, openSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { eventually } from "@brand-records/testkit";
import { LOG_FILE_BYTES_MAX } from "@brand-records/lifecycle";

const COMPILED = pathToFileURL(join(import.meta.dirname, "../dist/index.js")).href;

let folder: string;
let file: string;
const children: ChildProcess[] = [];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "log-output-test-"));
  file = join(folder, "gateway.log");
});
afterEach(async () => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
  await rm(folder, { recursive: true });
});

/** Starts a process that runs `use`, which has `log`, with its standard output appended to `file`. */
function start(use: string, { shell = "" } = {}): ChildProcess {
  const main = `import { openLog } from ${JSON.stringify(COMPILED)}; const log = openLog("gateway", "info", ${JSON.stringify(file)}); ${use}`;
  const fd = openSync(file, "a+");
  const child = spawn("sh", ["-c", `${shell} exec "$0" --input-type=module --eval "$1"`, process.execPath, main], {
    stdio: ["ignore", fd, "inherit", "ipc"],
  });
  closeSync(fd);
  children.push(child);
  return child;
}

/** Waits while more than 5,000 lines before the one of number `n` are not in the file yet: a slow disk must not have any dropped. */
const CATCH_UP = `const { fstatSync, readSync } = await import("node:fs");
   const bytes = Buffer.alloc(4_096);
   let written = 0;
   const lastWritten = () => {
     const end = bytes.toString("utf8", 0, readSync(1, bytes, 0, bytes.length, Math.max(0, fstatSync(1).size - bytes.length)));
     // A file that has just been rotated is empty.
     return (written = Math.max(written, ...Array.from(end.matchAll(/"n":(\\d+),/g), ([, n]) => Number(n))));
   };
   const catchUp = async (n) => {
     while (n - lastWritten() > 5_000) await new Promise((resolve) => setImmediate(resolve));
   };`;

/** Logs `count` numbered lines of about 500 bytes in batches, as requests would, and a raw line with each batch. */
const logLines = (count: number): string =>
  `${CATCH_UP}
   const filler = "x".repeat(400);
   for (let n = 0; n < ${count};) {
     for (let batch = 0; batch < 100; batch += 1) log.info({ n: n++, filler }, "line");
     process.stdout.write("raw\\n");
     await catchUp(n);
     await new Promise((resolve) => setImmediate(resolve));
   }
   process.disconnect();`;

const readLines = async (path: string): Promise<string[]> => (await readFile(path, "utf8")).split("\n");

/** Returns the numbers in all files, oldest first. Throws on a line that is neither raw nor whole. */
async function readNumbers(): Promise<number[]> {
  const numbers: number[] = [];
  for (const path of [`${file}.2`, `${file}.1`, file].filter((each) => existsSync(each))) {
    const lines = await readLines(path);
    expect(lines.pop()).toBe("");
    for (const line of lines) if (line !== "raw") numbers.push((JSON.parse(line) as { n: number }).n);
  }
  return numbers;
}

it("rotates the file: keeps the newest lines, none is lost or cut, in three files of bounded size", async () => {
  expect(await once(start(logLines(100_000)), "exit")).toEqual([0, null]);
  const numbers = await readNumbers();
  expect(numbers.at(-1)).toBe(99_999);
  expect(numbers).toEqual(numbers.map((_, index) => (numbers[0] ?? 0) + index));
  expect(numbers[0]).toBeGreaterThan(0);
  for (const path of [file, `${file}.1`, `${file}.2`]) expect((await stat(path)).size).toBeLessThan(1.1 * LOG_FILE_BYTES_MAX);
  expect((await stat(`${file}.1`)).size).toBeGreaterThanOrEqual(LOG_FILE_BYTES_MAX);
});

it("cuts a file that is already far too large down to its newest lines", async () => {
  const earlier = `${"x".repeat(99)}\n`;
  await writeFile(file, earlier.repeat(400_000));
  start('log.info("started"); setInterval(() => {}, 1_000);');
  await eventually(async () => expect(await readFile(file, "utf8")).toMatch(/^\{[^\n]*"msg":"started"\}\n$/));
  const kept = await readLines(`${file}.1`);
  expect((await stat(`${file}.1`)).size).toBeLessThanOrEqual(LOG_FILE_BYTES_MAX);
  expect(kept.length).toBeGreaterThan(90_000);
  expect(new Set(kept.slice(0, -1))).toEqual(new Set([earlier.trimEnd()]));
});

it("writes the lines of a time without disk space when there is space again, whole and in order", async () => {
  const child = start('let n = 0; setInterval(() => { log.info({ n: n++ }, "line"); process.send(n); }, 1);', { shell: "ulimit -S -f 1;" });
  // The file's limit, 512 bytes or 1 KiB, has been met.
  await eventually(async () => expect((await stat(file)).size).toBeGreaterThanOrEqual(512));
  const limit = (await stat(file)).size;
  for (let line = 0; line < 100; line += 1) await once(child, "message");
  expect((await stat(file)).size).toBe(limit);
  execFileSync("prlimit", ["--pid", String(child.pid), "--fsize=unlimited:unlimited"]);
  await eventually(async () => expect((await readLines(file)).length).toBeGreaterThan(100));
  child.kill("SIGKILL");
  await once(child, "exit");
  const numbers = await readNumbers();
  expect(numbers).toEqual(numbers.map((_, index) => index));
});

it("bounds what waits, and reports how many lines were dropped", async () => {
  const child = start('for (let n = 0; n < 50_000; n += 1) log.info({ n, filler: "x".repeat(400) }, "line"); process.send("logged");');
  await once(child, "message");
  await eventually(async () => expect((await readLines(file)).at(-2)).toContain('"dropped":'));
  const lines = (await readLines(file)).slice(0, -1).map((line) => JSON.parse(line) as { n?: number; dropped?: number });
  const numbers = lines.flatMap(({ n }) => n ?? []);
  expect(numbers).toEqual(numbers.map((_, index) => index));
  expect(lines.flatMap(({ dropped }) => dropped ?? []).reduce((sum, dropped) => sum + dropped, 0)).toBe(50_000 - numbers.length);
});

it("loses, repeats and cuts no line while rotations fail", async () => {
  // Puts a folder with something in it in the place of a file.
  await mkdir(join(`${file}.2`, "kept"), { recursive: true });
  // The file reaches its size while many lines wait.
  const use = `${CATCH_UP}
    for (let n = 0; n < 40_000;) {
      for (let batch = 0; batch < 1_000; batch += 1) log.info({ n: n++, filler: "x".repeat(n % 700) }, "line");
      await catchUp(n);
      await new Promise((resolve) => setTimeout(resolve, 30));
    }
    process.disconnect();`;
  expect(await once(start(use), "exit")).toEqual([0, null]);
  const lines = (await readLines(file)).filter((line) => line.startsWith("{")).map((line) => JSON.parse(line) as { n?: number });
  expect(lines.flatMap(({ n }) => n ?? [])).toEqual(Array.from({ length: 40_000 }, (_, n) => n));
  expect((await readLines(file)).at(-1)).toBe("");
});

it("keeps running when the older files cannot be written, and reports it", async () => {
  await writeFile(file, `${"x".repeat(99)}\n`.repeat(120_000));
  // Puts a folder with something in it in the place of a file.
  await mkdir(join(`${file}.2`, "kept"), { recursive: true });
  const child = start('setInterval(() => log.info("line"), 1);');
  await eventually(async () => expect(await readFile(file, "utf8")).toContain("the log cannot be rotated"));
  expect(child.exitCode).toBeNull();
});
