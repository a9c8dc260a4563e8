import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, globSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { freePort } from "@brand-records/postgres/embedded";
import { eventually } from "@brand-records/testkit";
import { deliver, newEvent, RelayFixture, SECRET } from "../relay.ts";

/** One promise: examples/relay/Dockerfile copies and runs what the relay needs. It follows the instructions without an engine. */

const run = promisify(execFile);
const FOLDER = join(import.meta.dirname, "../../examples/relay");

const text = readFileSync(join(FOLDER, "Dockerfile"), "utf8").replaceAll("\\\n", " ");
const instructions = text
  .split("\n")
  .map((line) => /^([A-Z]+) +(.*)$/.exec(line))
  .flatMap((match) => (match === null ? [] : [{ name: match[1] ?? "", value: match[2] ?? "" }]));
const valuesOf = (name: string): string[] => instructions.filter((instruction) => instruction.name === name).map(({ value }) => value);
const lastOf = (name: string): string => valuesOf(name).at(-1) ?? "";

const fixture = new RelayFixture();
beforeEach(() => fixture.open());
afterEach(() => fixture.close());

it("runs as an unprivileged user, from a Node.js that the relay accepts", () => {
  expect(lastOf("USER")).toBe("node");
  const major = Number(/^node:(\d+)-/.exec(lastOf("FROM"))?.[1]);
  const { engines } = JSON.parse(readFileSync(join(FOLDER, "package.json"), "utf8")) as { engines: { node: string } };
  expect(engines.node).toBe(">=22.13");
  // The bundled Node, which runs these tests.
  expect(major).toBe(Number(process.versions.node.split(".")[0]));
  const env = environment();
  expect(env["HOST"]).toBe("0.0.0.0");
  expect(lastOf("EXPOSE")).toBe(env["PORT"]);
  // The database's folder is a volume, and the user's.
  expect(env["RELAY_DATABASE"]).toMatch(new RegExp(`^${lastOf("VOLUME")}/`));
  expect(valuesOf("RUN")).toContain(`install -d -o node -g node ${lastOf("VOLUME")}`);
});

it("copies what its command imports, which is then healthy and posts", async () => {
  const image = fixture.path("image");
  mkdirSync(fixture.path("data"));
  for (const value of valuesOf("COPY")) {
    const [target = "", ...patterns] = value.split(/ +/).toReversed();
    for (const file of globSync(patterns, { cwd: FOLDER })) cpSync(join(FOLDER, file), join(image, lastOf("WORKDIR"), target, file));
  }
  const env = {
    ...environment(),
    PATH: process.env["PATH"],
    PORT: String(await freePort()),
    RELAY_DATABASE: fixture.path("data/relay.sqlite"),
    RELAY_SECRET: SECRET,
    RELAY_CHAT_URL: fixture.chatUrl,
    RELAY_CHAT_KIND: "slack",
  };
  const [, ...parameters] = JSON.parse(lastOf("CMD")) as string[];
  const child = spawn(process.execPath, parameters, { cwd: join(image, lastOf("WORKDIR")), env, stdio: ["ignore", "ignore", "inherit"] });
  const ended = once(child, "close");
  try {
    const [, ...check] = JSON.parse(/CMD (\[.*\])$/.exec(lastOf("HEALTHCHECK"))?.[1] ?? "[]") as string[];
    const healthy = () => run(process.execPath, check, { env });
    await eventually(healthy);
    const url = `http://127.0.0.1:${env.PORT}/`;
    expect((await deliver({ url, child, output: () => "" }, newEvent())).status).toBe(204);
    expect(fixture.messages).toHaveLength(1);
    child.kill("SIGTERM");
    expect(await ended).toEqual([0, null]);
    await expect(healthy()).rejects.toMatchObject({ code: 1 });
  } finally {
    child.kill("SIGKILL");
    await ended;
  }
});

function environment(): Record<string, string> {
  return Object.fromEntries(
    valuesOf("ENV").flatMap((value) =>
      value
        .trim()
        .split(/ +/)
        .map((pair) => pair.split("=", 2) as [string, string]),
    ),
  );
}
