import "@brand-records/config/require-node";
import { loadConfig } from "@brand-records/config";
import { runProcess } from "@brand-records/lifecycle";
import { openLog } from "@brand-records/telemetry";
import { parseConfig } from "./config.ts";
import { startRecords } from "./start.ts";

const config = loadConfig(() => parseConfig(process.env));
const log = openLog("records", config.LOG_LEVEL, config.LOG_FILE);
await runProcess({ log, stopGraceMs: config.STOP_GRACE_MS, start: (life) => startRecords(config, life, log) });
