import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";

/** One promise: a command ends with its own exit code, whatever becomes of its standard error, and whatever is still open. */

const COMPILED = join(process.cwd(), "packages/command-line/dist/run-as-process.js");
/** Waits until its standard error has no reader, and writes to it. */
const PROGRAM = `
  import { once } from "node:events";
  import { runAsProcess } from ${JSON.stringify(COMPILED)};
  await runAsProcess(async () => {
    await once(process.stdin.resume(), "end");
    const error = await new Promise((done) => process.stderr.write("a remark\\n", done));
    await new Promise(setImmediate);
    console.log(error.code);
    return 0;
  });`;

it("ends although something is still open, as a connection that a firewall swallows", async () => {
  const program = `
    import { runAsProcess } from ${JSON.stringify(COMPILED)};
    await runAsProcess(async () => {
      setInterval(() => {}, 1e9);
      console.log("done");
      return 3;
    });`;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", program], { stdio: ["ignore", "pipe", "inherit"] });
  const [stdout, [code]] = await Promise.all([text(child.stdout), once(child, "close")]);
  expect({ stdout, code }).toEqual({ stdout: "done\n", code: 3 });
});

it("goes on when nothing reads its standard error any more", async () => {
  const child = spawn(process.execPath, ["--input-type=module", "--eval", PROGRAM]);
  child.stderr.destroy();
  await once(child.stderr, "close");
  child.stdin.end();
  const [stdout, [code]] = await Promise.all([text(child.stdout), once(child, "close")]);
  expect({ stdout, code }).toEqual({ stdout: "EPIPE\n", code: 0 });
});
