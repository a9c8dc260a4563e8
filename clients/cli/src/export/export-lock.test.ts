import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { lockExport } from "./export-lock.ts";

/** One promise: at most one process holds the lock of a file, and one that was killed holds none. */

const COMPILED = join(process.cwd(), "clients/cli/dist/export/export-lock.js");
/** Locks the path of each line, and releases what it has at an empty one. */
const PROGRAM = `
  import { createInterface } from "node:readline";
  import { lockExport } from ${JSON.stringify(COMPILED)};
  let lock;
  for await (const path of createInterface({ input: process.stdin })) {
    if (path === "") {
      await lock?.release();
      lock = undefined;
      console.log("released");
    } else {
      try {
        lock = await lockExport(path);
        console.log("held");
      } catch (error) {
        console.log(error.code);
      }
    }
  }`;

interface Locker {
  readonly child: ChildProcessWithoutNullStreams;
  send(line: string): Promise<string>;
}

let folder: string;
let out: string;
const children: ChildProcessWithoutNullStreams[] = [];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "export-lock-"));
  out = join(folder, "links");
});
afterEach(async () => {
  for (const child of children.splice(0)) await kill(child);
  await rm(folder, { recursive: true });
});

function startLocker(): Locker {
  const child = spawn(process.execPath, ["--input-type=module", "--eval", PROGRAM]);
  children.push(child);
  child.stderr.pipe(process.stderr);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const send = async (line: string): Promise<string> => {
    child.stdin.write(`${line}\n`);
    return (await lines.next()).value as string;
  };
  return { child, send };
}

async function kill(child: ChildProcessWithoutNullStreams): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "close");
  child.kill("SIGKILL");
  await ended;
}

/** Leaves a lock as a process does that is killed. */
async function leaveLock(owner: string): Promise<string> {
  await mkdir(`${out}.lock`);
  const path = join(`${out}.lock`, "00000000-0000-4000-8000-000000000000");
  await writeFile(path, owner);
  return path;
}

it("is held by one of all processes that take over a dead one's at once, again and again", async () => {
  const lockers = Array.from({ length: 4 }, startLocker);
  const dead = startLocker();
  await kill(dead.child);
  for (let round = 0; round < 150; round += 1) {
    await leaveLock(`${dead.child.pid} ${hostname()}\n`);
    const found = await Promise.all(lockers.map(({ send }) => send(out)));
    expect(found.toSorted()).toEqual(["export_under_way", "export_under_way", "export_under_way", "held"]);
    await Promise.all(lockers.map(({ send }) => send("")));
    expect(await readdir(folder)).toEqual([]);
  }
});

it("is taken over from a killed process, and not from one that runs", async () => {
  const [first, second] = [startLocker(), startLocker()];
  expect(await first.send(out)).toBe("held");
  expect(await second.send(out)).toBe("export_under_way");
  await kill(first.child);
  expect(await second.send(out)).toBe("held");
});

it("is taken over from another host only if nothing touched it for two minutes", async () => {
  const owner = await leaveLock("1 elsewhere\n");
  await expect(lockExport(out)).rejects.toMatchObject({ code: "export_under_way", hint: expect.stringContaining("links.lock") });
  const old = new Date(Date.now() - 121_000);
  await utimes(owner, old, old);
  const lock = await lockExport(out);
  await lock.requireHeld();
  await lock.release();
});

it("that is deleted is lost: its holder writes nothing more, and deletes nothing of the next holder", async () => {
  const lost = await lockExport(out);
  await rm(`${out}.lock`, { recursive: true });
  const next = await lockExport(out);
  await expect(lost.requireHeld()).rejects.toMatchObject({ code: "lock_lost" });
  await lost.release();
  await next.requireHeld();
  await next.release();
});

it("is never made of a file or folder of someone else", async () => {
  await writeFile(`${out}.lock`, "mine");
  await expect(lockExport(out)).rejects.toMatchObject({ code: "foreign_lock" });
  await rm(`${out}.lock`);
  await mkdir(`${out}.lock`);
  await writeFile(join(`${out}.lock`, "mine"), "");
  await utimes(join(`${out}.lock`, "mine"), 0, 0);
  await expect(lockExport(out)).rejects.toMatchObject({ code: "export_under_way" });
  expect(await readdir(folder, { recursive: true })).toEqual(["links.lock", "links.lock/mine"]);
});
