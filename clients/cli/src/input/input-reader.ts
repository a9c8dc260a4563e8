import { readFile } from "node:fs/promises";
import type { Readable } from "node:stream";
import { errorReason, printable } from "@brand-records/terminal-output";
import { UsageFailure } from "../failure.ts";

/** Bytes of a file or of standard input. Every event and plan fits. */
const INPUT_BYTES_MAX = 1024 * 1024;

/** Reads the files of a command line. `-` is standard input, which one of them may be. */
export class InputReader {
  readonly #stdin: Readable;
  #stdinIsFor: string | undefined;

  constructor(stdin: Readable) {
    this.#stdin = stdin;
  }

  /**
   * @param option which names the file, such as `--file`, for the errors
   * @throws UsageFailure if it cannot be read, or is larger than 1 MiB
   */
  async read(path: string, option: string): Promise<Buffer> {
    const bytes = path === "-" ? await this.#readStdin(option) : await readNamed(path, option);
    if (bytes.length > INPUT_BYTES_MAX) throw new UsageFailure(`${option}: ${printable(path)} is larger than 1 MiB`);
    return bytes;
  }

  /**
   * Reads signing secrets: one a line, or with commas between them.
   *
   * @throws UsageFailure, which repeats nothing of the file
   */
  async readSecrets(path: string, option: string): Promise<string[]> {
    const text = (await this.read(path, option)).toString("utf8");
    const secrets = text.split(/[\s,]+/).filter((secret) => secret !== "");
    if (secrets.length > 0 && secrets.every((secret) => SIGNING_SECRET.test(secret))) return secrets;
    const problem = secrets.length === 0 ? "is empty" : "has something else than a signing secret, whsec_ and 44 characters of base64";
    throw new UsageFailure(`${option}: ${nameOf(path)} ${problem}`, "Write the receiver's secret into it, whole, as it was shown.");
  }

  async #readStdin(option: string): Promise<Buffer> {
    if (this.#stdinIsFor !== undefined) {
      throw new UsageFailure(
        `${this.#stdinIsFor} and ${option} are both -`,
        "Standard input can be one of them. Put the other into a file.",
      );
    }
    this.#stdinIsFor = option;
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of this.#stdin) {
      chunks.push(Buffer.from(chunk as Buffer));
      bytes += (chunk as Buffer).length;
      if (bytes > INPUT_BYTES_MAX) break;
    }
    return Buffer.concat(chunks);
  }
}

const SIGNING_SECRET = /^whsec_[A-Za-z0-9+/]{43}=$/;

const nameOf = (path: string): string => (path === "-" ? "standard input" : printable(path));

async function readNamed(path: string, option: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (error) {
    throw new UsageFailure(`${option}: ${printable(path)} cannot be read: ${errorReason(error)}`);
  }
}
