import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { PROGRAMS, runTool, type Program, type Tool } from "../run-tool.ts";
import { JAVA, MAVEN, runOpenapiGenerator } from "./openapi-generator.ts";

const JAVAC: Tool = { ...JAVA, command: "javac" };
const PACKAGES = ["--invoker-package", "brandrecords", "--api-package", "brandrecords.api", "--model-package", "brandrecords.model"];
/** Warnings of the generated code itself: its serialisers have no version, and it calls what Jackson has deprecated. */
const LINT = "-Xlint:all,-serial,-deprecation";

/** Generates a client with openapi-generator and its library `native`, and compiles it with the program. Maven caches its downloads. */
export async function buildOpenapiGeneratorJava(folder: string, description: string): Promise<Program> {
  const options = ["-g", "java", "--library", "native", ...PACKAGES, "--additional-properties", "useSingleRequestParameter=true"];
  await runOpenapiGenerator(folder, description, "client", options);
  const libraries = ["-DincludeScope=compile", `-DoutputDirectory=${join(folder, "lib")}`];
  await runTool(MAVEN, ["-q", "-B", "dependency:copy-dependencies", ...libraries], { cwd: join(folder, "client") });
  await mkdir(join(folder, "classes"));
  const sources = (await readdir(join(folder, "client/src/main/java"), { recursive: true }))
    .filter((file) => file.endsWith(".java"))
    .map((file) => join("client/src/main/java", file));
  const program = join(PROGRAMS, "generated/OpenapiGenerator.java");
  await runTool(JAVAC, [LINT, "-Werror", "-d", "classes", "-cp", "lib/*", ...sources, program], { cwd: folder });
  return { tool: JAVA, args: ["-cp", "classes:lib/*", "OpenapiGenerator"] };
}
