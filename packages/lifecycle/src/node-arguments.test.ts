import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { NODE_ARGUMENTS, NODE_ENVIRONMENT } from "./index.ts";

const MEBIBYTE = 1024 * 1024;

/** Allocates 80 MB of objects that live for a while, as those of requests do, and prints the size of the young generation. */
const LOAD = `
  const living = [];
  for (let i = 0; i < 10_000; i += 1) living[i % 6_000] = new Array(1_000).fill(i + 0.5);
  const young = require("node:v8").getHeapSpaceStatistics().find(({ space_name }) => space_name === "new_space");
  process.stdout.write(String(young.space_size));
`;

it("limit the young generation to 32 MiB, whatever the machine's memory", () => {
  const bytes = Number(execFileSync(process.execPath, [...NODE_ARGUMENTS, "--eval", LOAD], { encoding: "utf8" }));
  expect(bytes).toBeGreaterThan(8 * MEBIBYTE);
  expect(bytes).toBeLessThanOrEqual(32 * MEBIBYTE);
});

it("are also those of the image", () => {
  const dockerfile = readFileSync(join(import.meta.dirname, "../../../Dockerfile"), "utf8");
  const [, options = "", command = ""] = /NODE_OPTIONS=(\S+)[^]*^CMD \["node", (.*)\]$/m.exec(dockerfile) ?? [];
  for (const argument of NODE_ARGUMENTS) expect([options, ...command.split(/[", ]+/)]).toContain(argument);
  for (const [name, value] of Object.entries(NODE_ENVIRONMENT)) expect(dockerfile).toContain(`  ${name}=${value} \\\n`);
});
