import type { ServerResponse } from "node:http";

/**
 * Sends whole responses and bounds the memory of those that their clients do not read: the one that has waited longest makes room for the
 * others. What the kernel's buffers hold does not count.
 */
export class UnreadResponses {
  readonly #bytesMax: number;
  /** The oldest first. */
  readonly #unread = new Map<ServerResponse, number>();
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  send(response: ServerResponse, body: Buffer): void {
    this.#unread.set(response, body.length);
    this.#bytes += body.length;
    response.once("close", () => this.#forget(response));
    response.end(body, () => this.#forget(response));
    for (const [oldest] of this.#unread) {
      if (this.#bytes <= this.#bytesMax) return;
      this.#forget(oldest);
      oldest.destroy();
    }
  }

  #forget(response: ServerResponse): void {
    this.#bytes -= this.#unread.get(response) ?? 0;
    this.#unread.delete(response);
  }
}
