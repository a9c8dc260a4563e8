import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually } from "./eventually.ts";
import { startProcess } from "./start-process.ts";

const COMPILED = join(import.meta.dirname, "../dist/index.js");

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "processes-test-"));
});
afterAll(() => rm(folder, { recursive: true }));

async function script(name: string, code: string): Promise<string> {
  const path = join(folder, `${name}.mjs`);
  await writeFile(path, code);
  return path;
}

describe("startProcess", () => {
  it("reports the ready message, the output and the exit of a process", async () => {
    const service = await startProcess({
      name: "service",
      script: await script(
        "service",
        `process.on("SIGTERM", () => { console.error("bye"); process.exit(3); });
         console.log("hello", process.env.COLOR, process.env.HOME);
         process.send({ other: 1 });
         process.send({ ready: { port: 1234 } });
         setInterval(() => {}, 1_000);`,
      ),
      env: { COLOR: "violet" },
    });
    expect(service.ready).toEqual({ port: 1234 });
    expect(await service.kill("SIGTERM")).toEqual({ code: 3, signal: null });
    expect(await service.kill("SIGKILL")).toEqual({ code: 3, signal: null });
    expect(service.output()).toBe("hello violet undefined\nbye\n");
  });

  it("rejects with the output if the process ends before it is ready", async () => {
    const failing = script("failing", `console.error("DATABASE_URL: is missing"); process.exit(1);`);
    await expect(startProcess({ name: "records", script: await failing })).rejects.toThrow(
      /^records ended before it was ready \(exit code 1\).*DATABASE_URL: is missing/s,
    );
  });

  it("ends a process when its parent is killed", async () => {
    const child = await script(
      "child",
      `import { createServer } from "node:net";
       const server = createServer().listen(0, "127.0.0.1", () => process.send({ ready: server.address() }));`,
    );
    const parent = await script(
      "parent",
      `import { startProcess } from ${JSON.stringify(COMPILED)};
       const { ready } = await startProcess({ name: "child", script: ${JSON.stringify(child)} });
       process.stdout.write(String(ready.port));
       setInterval(() => {}, 1_000);`,
    );
    const killed = spawn(process.execPath, [parent], { stdio: ["ignore", "pipe", "inherit"] });
    const [port] = (await once(killed.stdout, "data")) as [Buffer];
    await dial(Number(port));
    killed.kill("SIGKILL");
    await eventually(() => expect(dial(Number(port))).rejects.toMatchObject({ code: "ECONNREFUSED" }));
  });
});

async function dial(port: number): Promise<void> {
  const socket = connect({ host: "127.0.0.1", port });
  await once(socket, "connect").finally(() => socket.destroy());
}
