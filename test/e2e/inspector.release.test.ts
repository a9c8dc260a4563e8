import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describeAssistants, endpointOf, LEGACY, STATELESS, type Assistant, type Server } from "../describe-assistants.ts";

/** One promise: the protocol's Inspector works unchanged, in both eras. */

/** The Inspector writes files there. */
let home: string;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "inspector-"));
});
afterAll(() => rm(home, { recursive: true, force: true }));

const INSPECTOR = "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js";
/** @see https://github.com/modelcontextprotocol/inspector/tree/main/clients/cli */
const EXIT_TOOL_ERROR = 5;

interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Sends one request, from a new process and connection. */
function inspector(era: string, server: Server, ...parameters: string[]): Promise<Outcome> {
  const connection = ["--cli", "--transport", "http", "--server-url", endpointOf(server).href, "--protocol-era", era];
  const key = ["--header", `Authorization: Bearer ${server.key}`, "--stored-auth-only"];
  return new Promise((resolve) => {
    const options = { env: { PATH: process.env["PATH"], HOME: home }, timeout: 100_000 };
    execFile(process.execPath, [INSPECTOR, ...connection, ...key, ...parameters], options, (error, stdout, stderr) =>
      // NaN if it was killed at the time limit.
      resolve({ code: error === null ? 0 : Number(error.code ?? NaN), stdout, stderr }),
    );
  });
}

const connectInspector =
  (era: string) =>
  async (server: Server): Promise<Assistant> => {
    const run = async (expected: number[], ...parameters: string[]) => {
      const { code, stdout, stderr } = await inspector(era, server, ...parameters);
      if (!expected.includes(code)) throw new Error(`exit code ${code}: ${stderr}`);
      return JSON.parse(stdout);
    };
    return {
      listTools: async () => (await run([0], "--method", "tools/list")).tools,
      callTool: (name, args) =>
        run([0, EXIT_TOOL_ERROR], "--method", "tools/call", "--tool-name", name, "--tool-args-json", JSON.stringify(args)),
      close: async () => {},
    };
  };

const CLIENTS = [
  { client: "Inspector, legacy", ...LEGACY, connect: connectInspector("legacy") },
  { client: "Inspector, modern", ...STATELESS, connect: connectInspector("modern"), hidesServerErrors: true },
] as const;

describeAssistants(CLIENTS, (system) => {
  it.each(["legacy", "modern"])("the Inspector finds only schemas that every client accepts, in its %s era", async (era) => {
    const { code, stderr } = await inspector(
      era,
      { url: system().stack.url, key: system().brand.key },
      "--method",
      "tools/list",
      "--strict",
    );
    expect({ code, errors: /^Error:.*/m.exec(stderr) }).toEqual({ code: 0, errors: null });
  });
});
