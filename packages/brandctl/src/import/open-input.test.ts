import { gzipSync } from "node:zlib";
import { recogniseFormat } from "./open-input.ts";

describe("recogniseFormat", () => {
  it.each([
    ["gzip", gzipSync("{}")],
    ["UTF-16", Buffer.from("\ufeff{}", "utf16le")],
    ["UTF-16", Buffer.from("\ufeff{}", "utf16le").swap16()],
    ["a JSON array", Buffer.from('\ufeff \n [{"id":1}]')],
    ["ZIP", Buffer.from("PK\u0003\u0004")],
  ])("knows %s", (format, bytes) => {
    expect(recogniseFormat(bytes)).toMatchObject({ format });
  });

  it.each(["", "{}", '\ufeff{"a":[1]}', "\n\n", "not json"])("lets everything else be read line by line: %j", (text) => {
    expect(recogniseFormat(Buffer.from(text))).toBeUndefined();
  });
});
