import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { exchange, type Sent } from "./exchange.ts";
import type { Masks } from "./masks.ts";

const FOLDER = join(process.cwd(), "test/recorded/answers");
const HEADING = "########## ";
/** Characters of a body that is written out. Of a longer one the recording has length and hash. */
const BODY_CHARACTERS_MAX = 8_000;

/** Sends a request and notes it with its response, masked. Returns the response as it came. */
export type Send = (name: string, sent: Sent) => Promise<string>;

/** One file of requests with their responses. */
export class Recording {
  readonly #path: string;
  readonly entries: string[] = [];

  constructor(name: string) {
    this.#path = join(FOLDER, `${name}.txt`);
  }

  /** Returns what notes each request to a server in this recording. */
  of(baseUrl: string, masks: Masks): Send {
    return async (name, sent) => {
      const { request, response } = await exchange(baseUrl, sent);
      this.entries.push(`${name}\n${readable(shortened(masks.apply(request)))}\n\n${readable(shortened(masks.apply(response)))}\n`);
      return response;
    };
  }

  /** The entries of the stored file. */
  stored(): string[] {
    return existsSync(this.#path) ? readFileSync(this.#path, "utf8").split(HEADING).slice(1) : [];
  }

  store(): void {
    writeFileSync(this.#path, this.entries.map((entry) => HEADING + entry).join(""));
  }
}

/** A carriage return that is not part of a line's end stays visible, and so does a last line that has no end. */
const readable = (text: string): string => text.replaceAll("\r\n", "\n").replaceAll("\r", "\\r").replace(/\n$/, "\n\\");

function shortened(message: string): string {
  const begin = message.indexOf("\r\n\r\n") + 4;
  const body = message.slice(begin);
  if (body.length <= BODY_CHARACTERS_MAX) return message;
  return `${message.slice(0, begin)}<${body.length} characters, SHA-256 ${createHash("sha256").update(body).digest("hex")}>`;
}
