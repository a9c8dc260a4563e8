import { readFileSync } from "node:fs";
import { BrandRecords, type ClientOptions } from "@brand-records/client";
import { errorReason, printable, UsageFailure } from "@brand-records/command-line";
import type { Session } from "./session.ts";

const KEY = /^brk_(live|test)_[0-9A-Za-z]{36}$/;

/** Milliseconds for an answer while a person waits: a wrong address shows soon. */
const DEADLINE_MS = 30_000;

/** The service and the key, from the environment: arguments can be read by every user of the machine. */
export interface Access {
  readonly url: string;
  readonly key: string;
  /** `live` or `test`. */
  readonly environment: string;
}

/** @throws UsageFailure, which repeats nothing of the key */
export function readAccess(env: NodeJS.ProcessEnv): Access {
  // A file of settings may have carriage returns.
  const url = env["BRAND_RECORDS_URL"]?.trim() ?? "";
  const key = env["BRAND_RECORDS_KEY"]?.trim() || keyOfFile(env["BRAND_RECORDS_KEY_FILE"]);
  if (url === "") {
    throw new UsageFailure("BRAND_RECORDS_URL is not set", "export BRAND_RECORDS_URL=https://… with the address of the service.");
  }
  if (!isOrigin(url)) {
    throw new UsageFailure("BRAND_RECORDS_URL is not the address of a service", "It must be like https://records.example.");
  }
  if (key === "") {
    throw new UsageFailure(
      env["BRAND_RECORDS_KEY_FILE"] ? "BRAND_RECORDS_KEY_FILE is empty" : "BRAND_RECORDS_KEY is not set",
      "read -rs BRAND_RECORDS_KEY && export BRAND_RECORDS_KEY, then paste the key. The brand's owners create keys in the Developers area.",
    );
  }
  const environment = KEY.exec(key)?.[1];
  if (environment === undefined) {
    throw new UsageFailure("BRAND_RECORDS_KEY is not a key", "It must be brk_live_ or brk_test_ and 36 letters and digits, nothing else.");
  }
  return { url, key, environment };
}

function keyOfFile(path = ""): string {
  try {
    return path === "" ? "" : readFileSync(path, "utf8").trim();
  } catch (error) {
    throw new UsageFailure(`BRAND_RECORDS_KEY_FILE: ${printable(path)} cannot be read: ${errorReason(error)}`);
  }
}

function isOrigin(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url !== undefined && /^https?:$/.test(url.protocol) && url.username + url.password + url.search + url.hash === "";
}

/** Opens the client of the command's service and key, which is read for each request. It reports waits for the brand's limit and repeated requests. */
export function openClient(session: Session, options: Partial<ClientOptions> = {}): BrandRecords {
  const { url } = readAccess(session.terminal.env);
  const key = (): string => readAccess(session.terminal.env).key;
  const onRetry: ClientOptions["onRetry"] = ({ error, delayMs }) => {
    const reason = error.code === "rate_limited" ? "The brand's limit is used up" : `${error.message} (${error.code})`;
    session.note(({ dim }) => dim(`${reason}: again in ${Math.max(1, Math.round(delayMs / 1_000))} s.`));
  };
  const userAgent = `brand-records-cli/${session.version}`;
  return new BrandRecords({ url, key, userAgent, deadlineMs: DEADLINE_MS, onRetry, ...options });
}
