import { cp } from "node:fs/promises";
import { join } from "node:path";
import { installedOnce } from "./installed-once.ts";
import { PINNED } from "./pinned-versions.ts";
import { runTool, type Program, type Tool } from "./run-tool.ts";

const PROGRAM = join(process.cwd(), "test/clients/programs/main.py");
const INSTALL = "Python 3.11 or newer with venv (Debian: python3-venv)";
const PYTHON: Tool = { command: "python3", install: INSTALL };

/** Generates a client with openapi-python-client, and compiles it with the program. */
export async function buildPythonClient(folder: string, description: string): Promise<Program> {
  const version = PINNED["openapi-python-client"];
  const environment = await installedOnce(`openapi-python-client-${version}`, async (target) => {
    await runTool(PYTHON, ["-m", "venv", target], { cwd: target });
    const pip: Tool = { command: join(target, "bin/pip"), install: INSTALL };
    await runTool(pip, ["install", "--quiet", "--disable-pip-version-check", `openapi-python-client==${version}`], { cwd: target });
  });
  const generator: Tool = { command: join(environment, "bin/openapi-python-client"), install: INSTALL };
  const python: Tool = { command: join(environment, "bin/python"), install: INSTALL };
  await runTool(generator, ["generate", "--path", description, "--output-path", "brand_records", "--meta", "none"], { cwd: folder });
  await cp(PROGRAM, join(folder, "main.py"));
  await runTool(python, ["-m", "compileall", "-q", "."], { cwd: folder });
  return { tool: python, args: ["main.py"] };
}
