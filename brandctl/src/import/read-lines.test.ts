import fc from "fast-check";
import { LINE_BYTES_MAX, readLines, type InputLine } from "./read-lines.ts";

async function linesOf(...chunks: (string | Uint8Array)[]): Promise<InputLine[]> {
  async function* bytes(): AsyncGenerator<Uint8Array> {
    for (const chunk of chunks) yield typeof chunk === "string" ? Buffer.from(chunk) : chunk;
  }
  const lines: InputLine[] = [];
  for await (const line of readLines(bytes())) lines.push(line);
  return lines;
}

const tooLong = { unreadable: "is longer than 1 MiB" };
const notUtf8 = { unreadable: "is not valid UTF-8" };

describe("readLines", () => {
  it("splits at LF or CRLF, and accepts a last line without an end", async () => {
    expect(await linesOf("one\ntwo\r\nthree")).toEqual(["one", "two", "three"]);
    expect(await linesOf("one\n")).toEqual(["one"]);
    expect(await linesOf("one\r")).toEqual(["one"]);
    expect(await linesOf("a\rb\n")).toEqual(["a\rb"]);
  });

  it("keeps blank lines, so that line numbers match the input", async () => {
    expect(await linesOf("\n\r\n  \nfour\n\n")).toEqual(["", "", "  ", "four", ""]);
    expect(await linesOf("")).toEqual([]);
    expect(await linesOf("\n")).toEqual([""]);
  });

  it("drops a byte order mark at the beginning, and nowhere else", async () => {
    expect(await linesOf("\ufeffone\n\ufefftwo")).toEqual(["one", "\ufefftwo"]);
    expect(await linesOf(Buffer.from([0xef]), Buffer.from([0xbb]), Buffer.from([0xbf, 0x61]))).toEqual(["a"]);
  });

  it("reports a line that is not UTF-8, and reads the others", async () => {
    const bytes = Buffer.concat([Buffer.from("one\n"), Buffer.from([0x22, 0xff, 0x22]), Buffer.from("\r\nthree ₱\n")]);
    expect(await linesOf(bytes)).toEqual(["one", notUtf8, "three ₱"]);
    expect(await linesOf(Buffer.from([0xc3]))).toEqual([notUtf8]);
  });

  it("reports a line that is too long, wherever chunks end", async () => {
    const line = "x".repeat(LINE_BYTES_MAX);
    expect(await linesOf(`${line}\n${line}y\nlast`)).toEqual([line, tooLong, "last"]);
    expect(await linesOf("first\n", line, "y", line, "\nlast")).toEqual(["first", tooLong, "last"]);
    expect(await linesOf(line, "y")).toEqual([tooLong]);
    const twoBytesEach = "é".repeat(LINE_BYTES_MAX / 2);
    expect(await linesOf(`${twoBytesEach}\n${twoBytesEach}é`)).toEqual([twoBytesEach, tooLong]);
  });

  it("finds the same lines however the bytes are cut into chunks", async () => {
    const text = fc.string({ unit: fc.constantFrom("a", "₱", "😀", "\r", "\n", "\n", "\ufeff", '"') });
    await fc.assert(
      fc.asyncProperty(text, fc.array(fc.integer({ min: 1, max: 5 })), async (input, cuts) => {
        const bytes = Buffer.from(input);
        const chunks: Buffer[] = [];
        let from = 0;
        for (const length of cuts) {
          chunks.push(bytes.subarray(from, from + length));
          from += length;
        }
        chunks.push(bytes.subarray(from));
        const expected = input.replace(/^\ufeff/, "").split("\n");
        if (expected.at(-1) === "" && !(input === "\ufeff")) expected.pop();
        expect(await linesOf(...chunks)).toEqual(expected.map((line) => line.replace(/\r$/, "")));
      }),
    );
  });
});
