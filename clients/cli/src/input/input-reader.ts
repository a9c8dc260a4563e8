import { createReadStream } from "node:fs";
import type { Readable } from "node:stream";
import { readSecrets } from "@brand-records/client/signing";
import { errorReason, printable, UsageFailure } from "@brand-records/command-line";

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
    if (bytes.length > INPUT_BYTES_MAX) throw new UsageFailure(`${option}: ${nameOf(path)} is larger than 1 MiB`);
    return bytes;
  }

  /** Reads text in UTF-8, without the byte order mark that editors write. @throws UsageFailure as `read` */
  async readText(path: string, option: string): Promise<string> {
    return new TextDecoder().decode(await this.read(path, option));
  }

  /**
   * Reads signing secrets: one a line, or with commas between them.
   *
   * @throws UsageFailure, which repeats nothing of the file
   */
  async readSecrets(path: string, option: string): Promise<string[]> {
    const text = await this.readText(path, option);
    try {
      return readSecrets(text);
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
      const hint = "Write the receiver's secret into it, whole, as it was shown.";
      throw new UsageFailure(`${option}: ${nameOf(path)}: ${error.message}`, hint);
    }
  }

  async #readStdin(option: string): Promise<Buffer> {
    if (this.#stdinIsFor !== undefined) {
      throw new UsageFailure(
        `${this.#stdinIsFor} and ${option} are both -`,
        "Standard input can be one of them. Put the other into a file.",
      );
    }
    this.#stdinIsFor = option;
    return readPrefix(this.#stdin);
  }
}

const nameOf = (path: string): string => (path === "-" ? "standard input" : printable(path));

async function readNamed(path: string, option: string): Promise<Buffer> {
  try {
    return await readPrefix(createReadStream(path));
  } catch (error) {
    throw new UsageFailure(`${option}: ${printable(path)} cannot be read: ${errorReason(error)}`);
  }
}

/** Returns everything, or more than is allowed: a device may have no end. */
async function readPrefix(stream: Readable): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stream) {
    chunks.push(Buffer.from(chunk as Buffer));
    bytes += (chunk as Buffer).length;
    if (bytes > INPUT_BYTES_MAX) break;
  }
  return Buffer.concat(chunks);
}
