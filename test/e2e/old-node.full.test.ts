import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { installedNode } from "../clients/installed-runtime.ts";
import { nodePrograms } from "../node-programs.ts";

/** One promise: on a Node that is too old no program starts, where it would fail with a stack, or only when it must stop. */

let node: string;
beforeAll(async () => {
  node = await installedNode("20.20.2");
});

const compiled = nodePrograms().map((path) => path.replace("/src/", "/dist/").replace(/\.ts$/, ".js"));
const bundled = compiled
  .map((path) => path.replace("/dist/main.js", "/dist/bundle/main.js"))
  .filter((path) => path.includes("/bundle/") && existsSync(path));

it("finds the bundles of all six processes", () => {
  expect(bundled).toHaveLength(6);
});

it.each([...compiled, ...bundled])("%s refuses Node 20 in one line, and exits as for wrong settings", async (program) => {
  const ended = await new Promise((resolve) => {
    execFile(node, [program], { env: {} }, (error, stdout, stderr) => resolve({ code: error?.code, stdout, stderr }));
  });
  expect(ended).toEqual({
    code: 78,
    stdout: "",
    stderr: expect.stringMatching(/^This is Node 20\.[\d.]+: 22\.19 or newer is needed\. See https:\/\/nodejs\.org\n$/),
  });
});
