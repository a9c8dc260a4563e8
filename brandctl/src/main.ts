import "@brand-records/config/require-node";
import { readFileSync } from "node:fs";
import { runAsProcess } from "@brand-records/command-line";
import { runBrandctl } from "./run.ts";

// By default, traces are exported again for ten seconds if their store is away, which would keep the command running.
process.env["OTEL_EXPORTER_OTLP_TIMEOUT"] ??= "1500";

const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as { version: string };
const { argv, stdin, stdout, stderr, env } = process;
await runAsProcess((interrupted) => runBrandctl(argv.slice(2), { stdin, stdout, stderr, env, cwd: process.cwd(), interrupted }, version));
