import type { Socket } from "node:net";
import { onRequestSent } from "./kept-connections.ts";

const STATUS_START = "HTTP/1.1 ".length;
const STATUS_LAST = STATUS_START + 2;
const [ZERO, TWO, LF, CR] = Buffer.from("02\n\r");

/**
 * Lets a receiver send an unrequested `100 Continue` before its response, which RFC 9110 §15.2 requires of a client. undici passes over every
 * other informational response, but destroys the connection at 100, and has no option for it: such a receiver could never accept
 * anything. So undici gets 102 in its place.
 *
 * Relies on undici reading a connection with `socket.read()`; its test fails if that changes. Costs a look at the first 12 bytes of a response.
 */
export class ContinueResponses {
  readonly #heads = new WeakMap<Socket, ResponseHeads>();

  /** Ends it for later requests. */
  readonly stop = onRequestSent((socket) => this.#heads.get(socket)?.begin());

  /** Watches a connection. Call it before the first request. */
  watch(socket: Socket): void {
    const read = socket.read.bind(socket);
    const heads = new ResponseHeads();
    this.#heads.set(socket, heads);
    socket.read = (size) => {
      const chunk = read(size) as Buffer | null;
      if (chunk !== null) heads.rename(chunk);
      return chunk;
    };
  }
}

/** The heads of a response and of the informational ones before it, read as their bytes arrive. */
export class ResponseHeads {
  /** Bytes of the current head. */
  #length = 0;
  #status = 0;
  /** Line ends in a row: two end a head. */
  #lineEnds = 0;
  /** The rest is the response itself. */
  #isPast = false;

  /** The next byte is the first of the response to another request. */
  begin(): void {
    this.#isPast = false;
    this.#nextHead();
  }

  /** Changes a status of 100 into 102, in place. */
  rename(chunk: Buffer): void {
    for (let at = 0; at < chunk.length && !this.#isPast; at += 1) {
      const byte = chunk[at] as number;
      if (this.#length >= STATUS_START && this.#length <= STATUS_LAST) this.#status = this.#status * 10 + byte - (ZERO as number);
      if (this.#length === STATUS_LAST) {
        if (this.#status === 100) chunk[at] = TWO as number;
        this.#isPast = this.#status < 100 || this.#status > 199;
      }
      this.#length += 1;
      if (byte === LF) this.#lineEnds += 1;
      else if (byte !== CR) this.#lineEnds = 0;
      if (this.#lineEnds === 2) this.#nextHead();
    }
  }

  #nextHead(): void {
    this.#length = 0;
    this.#status = 0;
    this.#lineEnds = 0;
  }
}
