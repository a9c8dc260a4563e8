import { gzipSync } from "node:zlib";
import { detectFormat } from "./open-input.ts";

describe("detectFormat", () => {
  it.each([
    ["gzip", gzipSync("{}")],
    ["UTF-16", Buffer.from("\ufeff{}", "utf16le")],
    ["UTF-16", Buffer.from("\ufeff{}", "utf16le").swap16()],
    ["a JSON array", Buffer.from('\ufeff \n [{"id":1}]')],
    ["ZIP", Buffer.from("PK\u0003\u0004")],
  ])("recognises %s", (format, bytes) => {
    expect(detectFormat(bytes)).toMatchObject({ format });
  });

  it.each(["", "{}", '\ufeff{"a":[1]}', "\n\n", "not json"])("leaves everything else to be read line by line: %j", (text) => {
    expect(detectFormat(Buffer.from(text))).toBeUndefined();
  });
});
