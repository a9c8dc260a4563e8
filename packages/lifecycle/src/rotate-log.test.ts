import { spawnSync } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LOG_FILE_BYTES_MAX, rotateLog } from "./rotate-log.ts";

let folder: string;
let file: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "rotate-log-test-"));
  file = join(folder, "gateway.log");
  await writeFile(file, `${"x".repeat(1_023)}\n`.repeat(LOG_FILE_BYTES_MAX / 1_024));
});
afterEach(() => rm(folder, { recursive: true }));

function rotate(): void {
  const fd = openSync(file, "a+");
  try {
    rotateLog(fd, file);
  } finally {
    closeSync(fd);
  }
}

it("removes the draft of a process that was killed, and leaves those of others alone", async () => {
  const { pid: killed } = spawnSync("true");
  const drafts = { killed: `${file}.${killed}.draft`, running: `${file}.${process.ppid}.draft`, other: `${file}.x.draft` };
  for (const draft of Object.values(drafts)) await writeFile(draft, "half a cop");
  rotate();
  expect((await readdir(folder)).toSorted()).toEqual(
    ["gateway.log", "gateway.log.1", `gateway.log.${process.ppid}.draft`, "gateway.log.x.draft"].toSorted(),
  );
  expect(await readFile(drafts.running, "utf8")).toBe("half a cop");
  expect([(await stat(file)).size, (await stat(`${file}.1`)).size]).toEqual([0, LOG_FILE_BYTES_MAX]);
});

it("writes into no draft of another process", async () => {
  // A process of a release whose drafts have no number is writing it.
  await writeFile(`${file}.draft`, "half a cop");
  rotate();
  expect(await readFile(`${file}.draft`, "utf8")).toBe("half a cop");
});
