import { cp, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { PINNED } from "./pinned-versions.ts";
import { runTool, type Program, type Tool } from "./run-tool.ts";

const PROGRAM = join(process.cwd(), "test/clients/programs/main.go");
const INSTALL = "Go 1.25 or newer (https://go.dev/dl)";
const GO: Tool = { command: "go", install: INSTALL };

const GENERATOR = "github.com/oapi-codegen/oapi-codegen/v2";
const RUNTIME = "github.com/oapi-codegen/runtime";

/** Generates a client with oapi-codegen, and compiles it with the program. Go caches its downloads. */
export async function buildGoClient(folder: string, description: string): Promise<Program> {
  await mkdir(join(folder, "client"));
  await writeFile(join(folder, "go.mod"), `module example.com/brand-records\n\ngo 1.25\n\nrequire ${RUNTIME} ${PINNED[RUNTIME]}\n`);
  const generator = `${GENERATOR}/cmd/oapi-codegen@${PINNED[GENERATOR]}`;
  const options = ["-generate", "types,client", "-package", "client", "-o", "client/client.gen.go", description];
  await runTool(GO, ["run", generator, ...options], { cwd: folder });
  await cp(PROGRAM, join(folder, "main.go"));
  await runTool(GO, ["build", "-mod=mod", "-o", "program", "."], { cwd: folder });
  return { tool: { command: join(folder, "program"), install: INSTALL }, args: [] };
}
