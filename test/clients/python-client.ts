import { createHash } from "node:crypto";
import { cp, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PYTHON } from "./installed-runtime.ts";
import { runTool } from "./run-tool.ts";

const ROOT = process.cwd();
export const PYTHON_CLIENT = join(ROOT, "clients/python");
/** Runs a program of the environment that clients/python/uv.lock describes, which it makes first, once. */
export const PYTHON_ENVIRONMENT = join(PYTHON_CLIENT, "tests/environment.py");

/** Runs a program of the environment that clients/python/uv.lock describes. Returns its stdout. */
export const runInPython = (
  program: string,
  args: readonly string[],
  { cwd = PYTHON_CLIENT, env = {} }: { readonly cwd?: string; readonly env?: Readonly<Record<string, string>> } = {},
): Promise<string> => runTool(PYTHON, [PYTHON_ENVIRONMENT, program, ...args], { cwd, env });

/**
 * Builds the wheel and the archive of sources as docs/release.md says. Returns their digests by file name.
 *
 * @param isCopied whether of a copy, outside git
 */
export async function buildPythonClient(target: string, isCopied = false): Promise<ReadonlyMap<string, string>> {
  const copy = await mkdtemp(join(tmpdir(), "python-client-"));
  try {
    const isSource = (path: string): boolean => !/\/(\.\w+_cache|\.venv|__pycache__|tests)(\/|$)/.test(path.slice(PYTHON_CLIENT.length));
    if (isCopied) await cp(PYTHON_CLIENT, copy, { recursive: true, filter: isSource });
    const env = { SOURCE_DATE_EPOCH: "1767225600" };
    await runInPython("hatchling", ["build", "--directory", target], { cwd: isCopied ? copy : PYTHON_CLIENT, env });
  } finally {
    await rm(copy, { recursive: true });
  }
  const files = await readdir(target);
  const digests = files.map(
    async (file) =>
      [
        file,
        createHash("sha256")
          .update(await readFile(join(target, file)))
          .digest("hex"),
      ] as const,
  );
  return new Map(await Promise.all(digests));
}

/** The examples of a page in Markdown, in one language, in their order. */
export async function examplesOf(page: string, language: string): Promise<string[]> {
  const text = await readFile(join(ROOT, page), "utf8");
  return [...text.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, "gms"))].map(([, code = ""]) => code);
}
