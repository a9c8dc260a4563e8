const MAGIC: readonly (readonly [bytes: readonly number[], name: string, remedy: string])[] = [
  [[0x1f, 0x8b], "gzip", "gunzip -c FILE | brandctl records import … -"],
  [[0x28, 0xb5, 0x2f, 0xfd], "Zstandard", "zstd -dc FILE | brandctl records import … -"],
  [[0x50, 0x4b, 0x03, 0x04], "ZIP", "unzip -p FILE | brandctl records import … -"],
  [[0xff, 0xfe], "UTF-16", "iconv -f UTF-16 -t UTF-8 FILE | brandctl records import … -"],
  [[0xfe, 0xff], "UTF-16", "iconv -f UTF-16 -t UTF-8 FILE | brandctl records import … -"],
];

/** What the input is, if it is plainly not NDJSON: told at once, instead of as a problem of every line. */
export function recogniseFormat(beginning: Uint8Array): { readonly format: string; readonly remedy: string } | undefined {
  for (const [bytes, format, remedy] of MAGIC) {
    if (bytes.every((byte, at) => beginning[at] === byte)) return { format, remedy };
  }
  if (/^(\xef\xbb\xbf)?\s*\[/.test(Buffer.from(beginning.subarray(0, 1_024)).toString("latin1"))) {
    return { format: "a JSON array", remedy: "jq -c '.[]' FILE | brandctl records import … -" };
  }
  return undefined;
}
