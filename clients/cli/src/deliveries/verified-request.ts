import type { IncomingMessage } from "node:http";
import type { BrandEvent, UnknownEvent } from "@brand-records/client";
import { receiveEvents } from "@brand-records/client/express";

/** What the client's receiver makes of a request. */
export interface VerifiedRequest {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Why it is refused. */
  readonly text: string | undefined;
  /** Undefined if it is refused. */
  readonly event: BrandEvent | UnknownEvent | undefined;
  /** The bytes of the body as they came. */
  readonly body: Buffer;
}

/** Returns a function that reads and verifies a request, and responds with nothing yet. It bounds the body as receivers do. */
export function requestVerifier(secrets: readonly string[], headerWord: string): (request: IncomingMessage) => Promise<VerifiedRequest> {
  const events = new WeakMap<IncomingMessage, BrandEvent | UnknownEvent>();
  const receive = receiveEvents<string, IncomingMessage>({ secrets, headerWord }, (event, request) => void events.set(request, event));
  return async (request) => {
    const chunks: Buffer[] = [];
    // Beside the receiver's own listener, before anything is read.
    const collect = (chunk: Buffer): void => void chunks.push(chunk);
    request.on("data", collect);
    let result: Pick<VerifiedRequest, "status" | "headers" | "text"> | undefined;
    const writeHead = (status: number, headers: Record<string, string>) => ({
      end: (text?: string) => (result = { status, headers, text: text?.trimEnd() }),
    });
    await receive(request, { writeHead }, (error) => {
      throw error;
    });
    request.off("data", collect);
    if (result === undefined) throw new Error("the receiver responds to every request");
    return { ...result, event: events.get(request), body: Buffer.concat(chunks) };
  };
}
