import { execFile } from "node:child_process";
import { mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** The commands that ensure.sh needs to search for Redis. It can install nothing with them. */
const TOOLS = ["bash", "sh", "sed", "grep", "id", "dirname"];

let bin: string;
beforeAll(async () => {
  bin = await mkdtemp(join(tmpdir(), "bench-path-"));
  for (const tool of TOOLS) {
    const { stdout } = await run("which", [tool]);
    await symlink(stdout.trim(), join(bin, tool));
  }
});
afterAll(() => rm(bin, { recursive: true }));

const bench = (env: Record<string, string>): Promise<{ stdout: string; stderr: string }> =>
  run(process.execPath, ["test/dist/bench/records/main.js"], { env: { TMPDIR: tmpdir(), ...env } });

it("fails without redis-server, and names what to install", async () => {
  await expect(bench({ PATH: bin })).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/redis-server \(on the PATH\)\n\s+Debian, Ubuntu: apt-get install redis-server/),
  });
});

it("refuses an unknown BENCH_SIZE, so that a tiny run is never taken for a full one", async () => {
  await expect(bench({ PATH: [bin, process.env["PATH"]].join(delimiter), BENCH_SIZE: "Tiny" })).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringContaining("BENCH_SIZE is Tiny: it must be tiny or unset"),
  });
});
