import { join } from "node:path";
import { installedOnce, PINNED } from "../installed-runtime.ts";
import { runTool, type Tool } from "../run-tool.ts";

export const MAVEN: Tool = { command: "mvn", install: "Maven (Debian: maven)" };
export const JAVA: Tool = { command: "java", install: "a JDK, 17 or newer (Debian: openjdk-17-jdk)" };

/** Writes a client of openapi-generator into a folder. */
export async function runOpenapiGenerator(cwd: string, description: string, output: string, options: readonly string[]): Promise<void> {
  const artifact = `org.openapitools:openapi-generator-cli:${PINNED["org.openapitools:openapi-generator-cli"]}`;
  const folder = await installedOnce(artifact, (target) =>
    runTool(MAVEN, ["-q", "-B", "dependency:copy", `-Dartifact=${artifact}`, `-DoutputDirectory=${target}`, "-Dmdep.stripVersion"], {
      cwd: target,
    }),
  );
  const jar = join(folder, "openapi-generator-cli.jar");
  const parts = "apiTests=false,modelTests=false,apiDocs=false,modelDocs=false";
  await runTool(JAVA, ["-jar", jar, "generate", "-i", description, "-o", output, "--global-property", parts, ...options], { cwd });
}
