import { runTool } from "./run-tool.ts";

const cwd = process.cwd();

it("names what to install when a tool is missing", async () => {
  const missing = { command: "brand-records-no-such-tool", install: "Fortran 77" };
  await expect(runTool(missing, [], { cwd })).rejects.toThrow(
    "brand-records-no-such-tool is not on the PATH. This test needs it: install Fortran 77.",
  );
});

it("includes the output of a failing tool", async () => {
  const node = { command: process.execPath, install: "Node.js" };
  await expect(runTool(node, ["-e", "console.log('half done'); throw new Error('no more')"], { cwd })).rejects.toThrow(
    /half done[\s\S]*no more/,
  );
});
