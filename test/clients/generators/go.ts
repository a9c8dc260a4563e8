import { cp, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { PINNED } from "../installed-runtime.ts";
import { PROGRAMS, runTool, type Program, type Tool } from "../run-tool.ts";

const GO: Tool = { command: "go", install: "Go 1.25 or newer (https://go.dev/dl)" };
const OGEN = "github.com/ogen-go/ogen";
const OAPI_CODEGEN = "github.com/oapi-codegen/oapi-codegen/v2";
const OAPI_CODEGEN_RUNTIME = "github.com/oapi-codegen/runtime";

/** Generates a client with ogen. */
export async function buildOgen(folder: string, description: string): Promise<Program> {
  const generator = `${OGEN}/cmd/ogen@${PINNED[OGEN]}`;
  await runTool(GO, ["run", generator, "--target", "client", "--package", "client", description], { cwd: folder });
  return compiled(folder, OGEN, "ogen.go");
}

/** Without `skip-prune` it drops the events, to which only webhooks refer, and writes code that does not compile. */
const OAPI_CODEGEN_CONFIG = {
  package: "client",
  output: "client/client.gen.go",
  generate: { models: true, client: true },
  "output-options": { "skip-prune": true },
};

/** Generates a client with oapi-codegen. */
export async function buildOapiCodegen(folder: string, description: string): Promise<Program> {
  await mkdir(join(folder, "client"));
  await writeFile(join(folder, "config.yaml"), JSON.stringify(OAPI_CODEGEN_CONFIG));
  const generator = `${OAPI_CODEGEN}/cmd/oapi-codegen@${PINNED[OAPI_CODEGEN]}`;
  await runTool(GO, ["run", generator, "-config", "config.yaml", description], { cwd: folder });
  return compiled(folder, OAPI_CODEGEN_RUNTIME, "oapi-codegen.go");
}

/** Compiles and vets the client with the program. Go caches its downloads. */
async function compiled(folder: string, library: typeof OGEN | typeof OAPI_CODEGEN_RUNTIME, program: string): Promise<Program> {
  await writeFile(join(folder, "go.mod"), `module example.com/brand-records\n\ngo 1.25\n\nrequire ${library} ${PINNED[library]}\n`);
  await cp(join(PROGRAMS, "generated", program), join(folder, "main.go"));
  await runTool(GO, ["vet", "-mod=mod", "./..."], { cwd: folder });
  await runTool(GO, ["build", "-mod=mod", "-o", "program", "."], { cwd: folder });
  return { tool: { command: join(folder, "program"), install: GO.install }, args: [] };
}
