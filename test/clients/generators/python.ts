import { cp } from "node:fs/promises";
import { join } from "node:path";
import { PINNED, PYTHON, pythonPrograms } from "../installed-runtime.ts";
import { PROGRAMS, runTool, type Program, type Tool } from "../run-tool.ts";
import { runOpenapiGenerator } from "./openapi-generator.ts";

const requirement = (name: keyof typeof PINNED): string => `${name}==${PINNED[name]}`;

/** Generates a client with openapi-python-client. */
export async function buildOpenapiPythonClient(folder: string, description: string): Promise<Program> {
  const programs = await pythonPrograms([requirement("openapi-python-client")]);
  const generator: Tool = { ...PYTHON, command: join(programs, "openapi-python-client") };
  await runTool(generator, ["generate", "--path", description, "--output-path", "brand_records", "--meta", "none"], { cwd: folder });
  return compiled(folder, programs, "openapi-python-client.py");
}

/** Generates a client with openapi-generator. */
export async function buildOpenapiGeneratorPython(folder: string, description: string): Promise<Program> {
  const programs = await pythonPrograms((["pydantic", "python-dateutil", "urllib3"] as const).map(requirement));
  await runOpenapiGenerator(folder, description, ".", ["-g", "python", "--package-name", "brand_records"]);
  return compiled(folder, programs, "openapi-generator.py");
}

/** Compiles the client with the program. Warnings are errors, also while it runs. */
async function compiled(folder: string, programs: string, program: string): Promise<Program> {
  const python: Tool = { ...PYTHON, command: join(programs, "python") };
  await cp(join(PROGRAMS, "generated", program), join(folder, "main.py"));
  await runTool(python, ["-W", "error", "-m", "compileall", "-q", "."], { cwd: folder });
  return { tool: python, args: ["-W", "error", "main.py"] };
}
