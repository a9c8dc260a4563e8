import { randomBytes } from "node:crypto";
import type { Env, ProcessName, ServiceName, StackOptions } from "./options.ts";

export interface StackPlaces {
  readonly databaseUrl: string;
  readonly topic: string;
  /** Ports for gRPC. Records and webhook need each other's before either runs. */
  readonly ports: Record<ServiceName, number>;
}

/** Returns the settings of a type of process, but for its own ports and those that it is to call instead of a service's. */
export type StackSettings = (name: ProcessName) => Env;

/** @param options of which `envOf` is read at each start of a process: a test may change it before a restart */
export function settingsOf(
  { databaseUrl, topic, ports }: StackPlaces,
  { redisUrl = "", kafkaBrokers, env = {}, envOf = {} }: StackOptions,
): StackSettings {
  // Longer than in production: here Redis shares two cores with a dozen processes.
  const common = { STOP_GRACE_MS: "0", LOG_LEVEL: "debug", REDIS_URL: redisUrl, REDIS_COMMAND_TIMEOUT_MS: "1000", ...env };
  const ofService = { ...common, DATABASE_URL: databaseUrl };
  const eventLog: Env = kafkaBrokers === undefined ? {} : { KAFKA_BROKERS: kafkaBrokers, KAFKA_TOPIC: topic };
  const [accountsAddress, webhookAddress] = [`127.0.0.1:${ports.accounts}`, `127.0.0.1:${ports.webhook}`];
  const own: Record<ProcessName, Env> = {
    accounts: { ...ofService, KEY_PEPPERS: newKey() },
    plans: { ...ofService, ACCOUNTS_ADDRESS: accountsAddress },
    records: { ...ofService, ...eventLog, WEBHOOK_ADDRESS: webhookAddress },
    webhook: { ...ofService, ...eventLog, ACCOUNTS_ADDRESS: accountsAddress, RECEIVER_SECRET_KEYS: newKey() },
    console: common,
    gateway: common,
  };
  return (name) => ({ ...own[name], ...envOf[name] });
}

const newKey = (): string => `1:${randomBytes(32).toString("base64")}`;
