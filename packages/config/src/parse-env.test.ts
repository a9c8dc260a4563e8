import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { z } from "zod";
import { ConfigError, integer, MAKE_A_KEY, origin, parseEnv, port, postgresUrl, redisUrl, sharedSettings, trustProxy } from "./index.ts";

const Settings = z.object({
  ...sharedSettings,
  PORT: port(8080),
  LIMIT: integer(60, 1, 100),
  PUBLIC_URL: origin.optional(),
  TRUST_PROXY: trustProxy.optional(),
  DATABASE_URL: postgresUrl,
  REDIS_URL: redisUrl.optional(),
});
const required = { DATABASE_URL: "postgres://localhost/records" };

function problemsOf(env: NodeJS.ProcessEnv, shape: z.ZodType = Settings, hints: Record<string, string> = {}): readonly string[] {
  try {
    parseEnv(shape, env, hints);
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return (error as ConfigError).problems;
  }
  return [];
}

it("uses the values that are set, and defaults for the others", () => {
  expect(parseEnv(Settings, { ...required, PORT: "0", PUBLIC_URL: "https://api.example/base//" })).toEqual({
    ENVIRONMENT: "live",
    LOG_LEVEL: "info",
    ADMIN_HOST: "127.0.0.1",
    ADMIN_PORT: 9_090,
    STOP_GRACE_MS: 5_000,
    PORT: 0,
    LIMIT: 60,
    PUBLIC_URL: "https://api.example/base",
    DATABASE_URL: "postgres://localhost/records",
  });
});

it("treats an empty variable as not set", () => {
  expect(parseEnv(Settings, { ...required, PORT: "", REDIS_URL: "", LOG_LEVEL: "" })).toEqual(parseEnv(Settings, required));
  expect(problemsOf({ DATABASE_URL: "" })).toEqual(problemsOf({}));
});

it("reports a required setting of any kind that is not set, with a hint", () => {
  const shape = z.object({
    DATABASE_URL: postgresUrl,
    ACCOUNTS_ADDRESS: z.string().min(1),
    KEYS: z.string().transform((text) => text.split(",")),
    MODE: z.enum(["a", "b"], "must be a or b"),
    LIMIT: integer(60, 1, 100),
  });
  const unset = [
    "DATABASE_URL: is not set",
    "ACCOUNTS_ADDRESS: is not set",
    'KEYS: is not set. Make one with: echo "1:$(openssl rand -base64 32)"',
    "MODE: is not set",
  ];
  expect(problemsOf({}, shape, { KEYS: MAKE_A_KEY })).toEqual(unset);
  expect(problemsOf({ DATABASE_URL: "", KEYS: "", MODE: "c" }, shape, { KEYS: MAKE_A_KEY })).toEqual([
    ...unset.slice(0, 3),
    "MODE: must be a or b",
  ]);
});

it("keeps the message of a check that requires a setting because of another", () => {
  const shape = z
    .object({ CERT: z.string().optional(), KEY: z.string().optional() })
    .refine(({ CERT, KEY }) => (CERT === undefined) === (KEY === undefined), { path: ["KEY"], message: "must be set with CERT" });
  expect(() => parseEnv(shape, { CERT: "x" })).toThrow("KEY: must be set with CERT");
});

it("reports every problem in one error, each with the name of its setting", () => {
  const wrong = {
    ENVIRONMENT: "prod",
    PORT: "65536",
    LIMIT: "0",
    PUBLIC_URL: "ftp://x",
    DATABASE_URL: "mysql://x",
    REDIS_URL: "localhost",
  };
  const problems = problemsOf(wrong);
  expect(new Set(problems.map((problem) => problem.split(": ")[0]))).toEqual(new Set(Object.keys(wrong)));
});

it("never repeats the value of a setting, which may be a password", () => {
  const wrong = {
    DATABASE_URL: "postgres//app:hunter2@db",
    REDIS_URL: "hunter2",
    LIMIT: "hunter2",
    ENVIRONMENT: "hunter2",
    LOG_LEVEL: "hunter2",
  };
  expect(problemsOf(wrong)).toHaveLength(5);
  expect(problemsOf(wrong).join()).not.toContain("hunter2");
});

it("freezes the settings", () => {
  expect(Object.isFrozen(parseEnv(Settings, required))).toBe(true);
});

it.each([
  ["PORT", ["65536", "-1", "80.5", " 80"]],
  ["LIMIT", ["101", "1e1", "0x10"]],
  ["STOP_GRACE_MS", ["60001"]],
  ["PUBLIC_URL", ["example.com"]],
  ["TRUST_PROXY", ["100", "cafe", "300.1.1.1", "10.0.0.0/33", "10.0.0.0/0", "fd00::/129", "10.0.0.0/8/8", "1,10.0.0.0/8", "10.0.0.1,"]],
  ["DATABASE_URL", ["localhost:5432"]],
])("refuses %s=%j", (name, values) => {
  for (const value of values)
    expect([value, problemsOf({ ...required, [name]: value })]).toEqual([value, [expect.stringMatching(new RegExp(`^${name}: must `))]]);
});

it.each<[string, number | string]>([
  ["0", 0],
  ["12", 12],
  ["10.0.0.1", "10.0.0.1"],
  ["10.0.0.0/8, fd00::/8,::1", "10.0.0.0/8, fd00::/8,::1"],
  ["::ffff:10.0.0.1/128", "::ffff:10.0.0.1/128"],
])("takes the proxies %s", (text, proxies) => {
  expect(parseEnv(Settings, { ...required, TRUST_PROXY: text })).toMatchObject({ TRUST_PROXY: proxies });
});

it("loadConfig prints what is wrong without a stack, and exits with 78, so that no supervisor restarts the process", async () => {
  const compiled = pathToFileURL(join(import.meta.dirname, "../dist/index.js")).href;
  const main = `
    import { loadConfig, parseEnv, postgresUrl } from ${JSON.stringify(compiled)};
    import { z } from "zod";
    loadConfig(() => parseEnv(z.object({ DATABASE_URL: postgresUrl }), { DATABASE_URL: "x" }));
    process.stdout.write("continued");`;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", main], {
    cwd: import.meta.dirname,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (output += chunk.toString()));
  expect(await once(child, "close")).toEqual([78, null]);
  expect(output).toBe("Invalid settings:\n  DATABASE_URL: must be a postgres:// URL\n");
});
