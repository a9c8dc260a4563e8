import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { parseEnv, postgresUrl, redisUrl } from "./index.ts";

const Settings = z
  .object({
    DATABASE_URL: postgresUrl,
    REDIS_URL: redisUrl.optional(),
    KEYS: z
      .string()
      .min(4)
      .transform((text) => text.split(","))
      .meta({ secret: true })
      .describe("Keys."),
    PUBLIC_URL: z.string().default("x"),
  })
  .superRefine(() => {})
  .transform((settings) => ({ ...settings, derived: true }));

const URL = "postgres://app:hunter2@db/records";
let folder: string;

beforeAll(() => (folder = mkdtempSync(join(tmpdir(), "secret-files-"))));
afterAll(() => rmSync(folder, { recursive: true }));

function file(content: string | Uint8Array): string {
  const path = join(folder, String(Math.random()));
  writeFileSync(path, content);
  return path;
}

it("reads a secret from the file that NAME_FILE names, without its last line break", () => {
  const env = { DATABASE_URL_FILE: file(`${URL}\n`), REDIS_URL_FILE: file("redis://h\r\n"), KEYS_FILE: file("abcd,e\n\n") };
  expect(parseEnv(Settings, env)).toEqual({
    DATABASE_URL: URL,
    REDIS_URL: "redis://h",
    KEYS: ["abcd", "e\n"],
    PUBLIC_URL: "x",
    derived: true,
  });
});

it("reads no file for a setting that holds no secret, and none for an empty variable", () => {
  const env = { DATABASE_URL: URL, DATABASE_URL_FILE: "", KEYS: "abcd", PUBLIC_URL_FILE: "/no/such/file" };
  expect(parseEnv(Settings, env)).toMatchObject({ PUBLIC_URL: "x" });
});

it.each([
  [
    "both are set",
    () => ({ DATABASE_URL: URL, DATABASE_URL_FILE: file(URL) }),
    "DATABASE_URL_FILE: DATABASE_URL is set too: set one of them",
  ],
  ["it does not exist", () => ({ DATABASE_URL_FILE: "/hunter2" }), "DATABASE_URL_FILE: the file cannot be read (ENOENT)"],
  ["it is a folder", () => ({ DATABASE_URL_FILE: folder }), "DATABASE_URL_FILE: the file cannot be read (EISDIR)"],
  ["its path is invalid", () => ({ DATABASE_URL_FILE: "\0hunter2" }), "DATABASE_URL_FILE: the file cannot be read (ERR_INVALID_ARG_VALUE)"],
  ["it is empty", () => ({ DATABASE_URL_FILE: file("\n") }), "DATABASE_URL_FILE: the file is empty"],
  ["it is not text", () => ({ DATABASE_URL_FILE: file(Uint8Array.of(0xff)) }), "DATABASE_URL_FILE: the file is not UTF-8 text"],
  ["its value is wrong", () => ({ DATABASE_URL_FILE: file("hunter2") }), "DATABASE_URL_FILE: must be a postgres:// URL"],
])("reports in one line, without the value or the path, that %s", (_, env, problem) => {
  expect(() => parseEnv(Settings, { KEYS: "abcd", ...env() })).toThrow(expect.objectContaining({ problems: [problem] }));
});
