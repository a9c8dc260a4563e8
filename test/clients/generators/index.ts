import type { Program } from "../run-tool.ts";
import { buildOapiCodegen, buildOgen } from "./go.ts";
import { buildOpenapiGeneratorJava } from "./java.ts";
import { buildOpenapiGeneratorPython, buildOpenapiPythonClient } from "./python.ts";
import { buildHeyApi, buildOrval, buildTypescriptFetch } from "./typescript.ts";

/** Generates a client from the description in an empty folder, and compiles it with an integrator's program. */
export type Build = (folder: string, description: string) => Promise<Program>;

/** The client generators, each with what it makes of the description. */
export const GENERATORS: Readonly<Record<string, Build>> = {
  "openapi-generator for Java": buildOpenapiGeneratorJava,
  "openapi-generator for Python": buildOpenapiGeneratorPython,
  "openapi-python-client": buildOpenapiPythonClient,
  ogen: buildOgen,
  "oapi-codegen": buildOapiCodegen,
  "hey-api": buildHeyApi,
  "orval with zod": buildOrval,
  "openapi-generator for typescript-fetch": buildTypescriptFetch,
};
