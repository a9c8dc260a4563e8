import { readFileSync } from "node:fs";
import { repositoryFiles } from "./docs/pages.ts";

/** Sources of the programs that an operator starts: of these folders, they alone read the environment. Not those of integrators, which run on Node 20. */
export const nodePrograms = (): readonly string[] =>
  repositoryFiles().filter(
    (path) =>
      /^(?:gateway|console\/server|services\/\w+|brandctl|deploy\/embedded)\/src\/(?!.*\.test\.ts$).*\.ts$/.test(path) &&
      /\bprocess\.env\b|\bprocess;$/m.test(readFileSync(path, "utf8")),
  );
