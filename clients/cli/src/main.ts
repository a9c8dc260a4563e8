import { readFileSync } from "node:fs";
import { runAsProcess } from "@brand-records/command-line";
import { runCli } from "./run.ts";

// Bundled into dist/bundle.
const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as { version: string };
const { argv, stdin, stdout, stderr, env } = process;
await runAsProcess((interrupted) => runCli(argv.slice(2), { stdin, stdout, stderr, env, interrupted }, version));
