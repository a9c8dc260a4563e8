import type { IncomingHttpHeaders } from "node:http";
import { startReplyDeadline } from "@brand-records/lifecycle";
import type { Dispatcher } from "undici";

/** Stored of a response. Only its status decides the outcome, however long it is. */
export const RESPONSE_BYTES_MAX = 16 * 1024;

export type Reply = WholeReply | BrokenReply;

/** A response that ended, or of which there is more than is stored. */
export interface WholeReply {
  readonly statusCode: number;
  readonly headers: IncomingHttpHeaders;
  /** At most RESPONSE_BYTES_MAX. */
  readonly prefix: Buffer;
}

export interface BrokenReply {
  /** Null if no response began. */
  readonly statusCode: number | null;
  readonly error: Error;
}

export class DeadlinePassed extends Error {}

/** Ends a connection of which nothing more is wanted. Without this it would carry the rest of the body. */
class EnoughRead extends Error {}

/** Reads the beginning of a response, without the stream, the signal and the promises of undici's `request`. */
export class ReplyReader implements Dispatcher.DispatchHandler {
  readonly #resolve: (reply: Reply) => void;
  readonly #repeats: (error: Error) => boolean;
  readonly #cancelDeadline: () => void;
  #controller: Dispatcher.DispatchController | undefined;
  #statusCode: number | null = null;
  #headers: IncomingHttpHeaders = {};
  readonly #chunks: Buffer[] = [];
  #bytes = 0;
  #reason: Error | undefined;
  #resolved = false;

  /** @param repeats dispatches the request again with this reader, and returns true, if a failed one may be sent again */
  constructor(resolve: (reply: Reply) => void, repeats: (error: Error) => boolean, deadlineMs: number) {
    this.#resolve = resolve;
    this.#repeats = repeats;
    this.#cancelDeadline = startReplyDeadline(deadlineMs, () => this.#abort(new DeadlinePassed()));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // undici notices only now, connected, that nothing is wanted any more. It sends nothing then.
    if (this.#reason !== undefined) controller.abort(this.#reason);
  }

  onResponseStart(_controller: Dispatcher.DispatchController, statusCode: number, headers: IncomingHttpHeaders): void {
    // Informational: the response itself follows.
    if (statusCode < 200) return;
    this.#statusCode = statusCode;
    this.#headers = headers;
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#resolved) return;
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    if (this.#bytes <= RESPONSE_BYTES_MAX) return;
    this.#succeed();
    this.#abort(new EnoughRead());
  }

  onResponseEnd(): void {
    this.#succeed();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (this.#resolved || this.#repeats(error)) return;
    this.#end({ statusCode: this.#statusCode, error });
  }

  /** Does not wait for undici, which reports the end of a request only once it is connected. */
  #abort(reason: Error): void {
    this.#reason = reason;
    this.#end({ statusCode: this.#statusCode, error: reason });
    this.#controller?.abort(reason);
  }

  #succeed(): void {
    const prefix = Buffer.concat(this.#chunks).subarray(0, RESPONSE_BYTES_MAX);
    this.#end({ statusCode: this.#statusCode as number, headers: this.#headers, prefix });
  }

  #end(reply: Reply): void {
    if (this.#resolved) return;
    this.#resolved = true;
    this.#cancelDeadline();
    this.#resolve(reply);
  }
}
