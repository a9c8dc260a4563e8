import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { ROOT } from "./program.ts";

/** Imports a compiled module of a service: the measured statements are the product's own. */
export async function importBuilt<Module>(path: string): Promise<Module> {
  return (await import(pathToFileURL(join(ROOT, path)).href)) as Module;
}
