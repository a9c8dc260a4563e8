import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { startKafkaServer } from "@brand-records/testkit";
import { own } from "./started-services.ts";

const run = promisify(execFile);

/** @param found what ensure.sh printed */
export async function startKafka(found: ReadonlyMap<string, string>): Promise<void> {
  for (const name of ["KAFKA_LIB_DIR", "JAVA", "KAFKA_IMAGE"]) {
    const value = found.get(name);
    if (value !== undefined) process.env[name] = value;
  }
  if (found.has("KAFKA_IMAGE")) own("kafka containers", removeContainers);
  process.env["TEST_KAFKA_BROKERS"] = found.get("KAFKA_BROKERS") ?? (await startOwnKafka());
}

/** Removes containers that failed tests left. */
async function removeContainers(): Promise<void> {
  const filters = ["--filter", `label=brand-records.run=${process.pid}`, "--filter", "name=brand-records-kafka-"];
  const { stdout } = await run("docker", ["ps", "--all", "--quiet", ...filters]);
  const ids = stdout.split("\n").filter((id) => id !== "");
  if (ids.length > 0) await run("docker", ["rm", "--force", "--volumes", ...ids]);
}

async function startOwnKafka(): Promise<string> {
  const kafka = await startKafkaServer();
  own("kafka", () => kafka.stop());
  return kafka.brokers;
}
