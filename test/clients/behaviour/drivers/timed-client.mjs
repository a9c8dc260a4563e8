// The client as the command line gets it here: with the times of an Ask, which are no options of its commands, and with what it repeats.
import process from "node:process";
import { BrandRecords as Client } from "@brand-records/client";

export * from "@brand-records/client";

const { timeout_ms: timeoutMs, deadline_ms: deadlineMs } = JSON.parse(process.argv[2]);
const times = { ...(timeoutMs !== undefined && { timeoutMs }), ...(deadlineMs !== undefined && { deadlineMs }) };

export const retries = [];

export class BrandRecords extends Client {
  constructor(options) {
    super({ ...options, ...times, onRetry: ({ delayMs, attempts }) => retries.push({ delay_ms: delayMs, attempts }) });
  }

  sync(store, options) {
    return super.sync(store, { ...options, ...times });
  }
}
