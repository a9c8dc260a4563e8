import { isIP } from "node:net";
import { contextOf as edgeContextOf, giveContext, networkOf, type EdgeContext } from "@brand-records/edge";
import { startSpan, traceparentFrom } from "@brand-records/telemetry";
import type { RequestHandler, Response } from "express";

/** The state of a request while it is served. */
export interface RequestContext extends EdgeContext {
  /** What limits count for the address of the person who sent it. */
  readonly network: string;
}

/** Some proxies add a port to the address that they report, and IPv6 addresses of a link have a zone. Empty if it is no address. */
export function addressOf(reported: string | undefined): string {
  const [, bare = reported ?? ""] = /^(?:\[([^\]]+)\](?::\d+)?)$/.exec(reported ?? "") ?? /^([\d.]+):\d+$/.exec(reported ?? "") ?? [];
  const [address = ""] = bare.split("%");
  return isIP(address) === 0 ? "" : address;
}

/** Gives every request its context. The gateway decides whether it is sampled. */
export const requestContext = (deadlineMs: number): RequestHandler =>
  giveContext<RequestContext>(deadlineMs, (request) => {
    const { traceparent: received } = request.headers;
    const caller = traceparentFrom(typeof received === "string" ? received : undefined);
    const span = startSpan(request.method, caller, { kind: "server" });
    const address = addressOf(request.ip);
    return { traceparent: span?.traceparent ?? caller, span, address, network: networkOf(address) };
  });

export const contextOf = (response: Response): RequestContext => edgeContextOf(response);
