import { cp, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { NODE, npmPackages } from "../installed-runtime.ts";
import { PROGRAMS, runTool, type Program } from "../run-tool.ts";
import { runOpenapiGenerator } from "./openapi-generator.ts";

const ROOT = process.cwd();

/** Options as strict as our own build's, except for those that generated code fails. */
const TSCONFIG = {
  extends: join(ROOT, "tsconfig.base.json"),
  compilerOptions: {
    composite: false,
    erasableSyntaxOnly: false,
    exactOptionalPropertyTypes: false,
    noUncheckedIndexedAccess: false,
    noUnusedLocals: false,
    noUnusedParameters: false,
    noImplicitOverride: false,
    rootDir: ".",
    outDir: "dist",
    lib: ["es2024", "dom", "dom.iterable"],
    typeRoots: [join(ROOT, "node_modules/@types")],
  },
  include: ["**/*.ts", "**/*.mts"],
};

/** Generates a client with @hey-api/openapi-ts. */
export async function buildHeyApi(folder: string, description: string): Promise<Program> {
  const packages = await npmPackages("@hey-api/openapi-ts", "typescript");
  // Node.js requires an extension in imports.
  const config = { input: description, output: { path: "client", module: { extension: ".js" } }, plugins: ["@hey-api/client-fetch"] };
  await writeFile(join(folder, "openapi-ts.config.mjs"), `export default ${JSON.stringify(config)};`);
  await runTool(NODE, [join(packages, "@hey-api/openapi-ts/bin/run.js"), "--no-log-file"], { cwd: folder });
  return compiled(folder, "hey-api.mts");
}

/** Generates a client and schemas of zod with orval. */
export async function buildOrval(folder: string, description: string): Promise<Program> {
  const packages = await npmPackages("orval", "zod");
  const input = { target: description };
  // orval's imports of a folder lack the index.js that Node.js requires.
  const common = { tsconfig: { compilerOptions: { module: "nodenext" } }, indexFiles: false };
  const config = {
    client: {
      input,
      output: {
        ...common,
        client: "fetch",
        target: "client/index.ts",
        schemas: "client/model",
        baseUrl: { runtime: "process.env.BASE_URL" },
      },
    },
    // orval's validating client (runtimeValidation) does not compile: it imports types of the shared responses, which it does not write.
    schemas: {
      input,
      output: {
        ...common,
        client: "zod",
        target: "client/zod.ts",
        schemas: { path: "client/zod", type: "zod" },
        override: { zod: { generateReusableSchemas: true } },
      },
    },
  };
  await writeFile(join(folder, "orval.config.mjs"), `export default ${JSON.stringify(config)};`);
  await symlink(packages, join(folder, "node_modules"));
  await runTool(NODE, [join(packages, "orval/dist/bin/orval.mjs"), "--config", "orval.config.mjs"], { cwd: folder });
  return compiled(folder, "orval.mts");
}

/** Generates a client with openapi-generator's typescript-fetch. */
export async function buildTypescriptFetch(folder: string, description: string): Promise<Program> {
  await runOpenapiGenerator(folder, description, "client", [
    "-g",
    "typescript-fetch",
    "--additional-properties",
    "importFileExtension=.js",
  ]);
  return compiled(folder, "typescript-fetch.mts");
}

/** Compiles the client with the program, with our compiler. */
async function compiled(folder: string, program: string): Promise<Program> {
  await writeFile(join(folder, "package.json"), JSON.stringify({ type: "module" }));
  await writeFile(join(folder, "tsconfig.json"), JSON.stringify(TSCONFIG));
  await cp(join(PROGRAMS, "generated", program), join(folder, "main.mts"));
  await runTool(NODE, [join(ROOT, "node_modules/typescript/bin/tsc"), "-p", folder], { cwd: folder });
  return { tool: NODE, args: ["dist/main.mjs"] };
}
