import type { Client } from "@brand-records/proto/accounts/v1";
import Bowser from "bowser";
import type { Request } from "express";

/** Browsers send about 120 characters. */
const USER_AGENT_LENGTH_MAX = 400;

/** Returns where a person's call comes from, for the audit log: the browser's family alone, as versions would tell people apart. */
export function clientOf(request: Request, address: string): Client {
  return { address: address || null, browser: browserFamily(request.get("user-agent")) };
}

/** Returns null for what is no browser that is known. */
export function browserFamily(userAgent: string | undefined): string | null {
  const text = userAgent?.slice(0, USER_AGENT_LENGTH_MAX);
  return text ? Bowser.getParser(text).getBrowserName() || null : null;
}
