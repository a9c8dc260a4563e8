import { parseArgs } from "node:util";
import { ConfigError, loadConfig } from "@brand-records/config";
import { rewindReaders } from "@brand-records/event-log";
import { reportFailure } from "@brand-records/lifecycle";
import { openLog } from "@brand-records/telemetry";
import { parseConfig } from "./config.ts";
import { GROUP } from "./intake/group.ts";

/**
 * A program of its own, with webhook's settings, for a database that was restored from a backup, while no webhook process runs. Lets the intake
 * read again what Kafka stored since `--since`: what is stored already changes nothing. Exits as `migrate.js` does.
 */
const config = loadConfig(() => parseConfig(process.env));
const log = openLog("after-restore webhook", config.LOG_LEVEL);
try {
  const since = sinceOf(process.argv.slice(2));
  if (config.KAFKA_BROKERS.length === 0) {
    log.warn({}, "without Kafka there is nothing to read again: events since the backup are lost");
  } else {
    const { cut, ...rewound } = await rewindReaders(config, GROUP, since, log);
    for (const { partition, begins_at } of cut)
      log.warn(
        { topic: rewound.topic, partition, begins_at, since: since.toISOString() },
        "events since the backup may be lost: Kafka has removed messages, and this partition begins later (docs/operations.md, What a restore loses)",
      );
    log.info({ ...rewound, partitions_cut: cut.length, since: since.toISOString() }, "events will be read again");
  }
} catch (error) {
  process.exitCode = reportFailure(error, log, "the event log could not be rewound: run this again while no webhook process runs");
}

/** @throws ConfigError */
function sinceOf(args: string[]): Date {
  const { since = "" } = optionsIn(args);
  const isTime = /^\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-]\d\d:\d\d)$/.test(since);
  const time = new Date(isTime ? since : Number.NaN);
  if (Number.isNaN(time.getTime()))
    throw new ConfigError(["--since: must be an RFC 3339 time before the backup, such as 2026-11-23T06:00:00Z"]);
  return time;
}

/** @throws ConfigError */
function optionsIn(args: string[]) {
  try {
    return parseArgs({ args, options: { since: { type: "string" } } }).values;
  } catch (error) {
    throw new ConfigError([(error as Error).message]);
  }
}
