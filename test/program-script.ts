import { existsSync } from "node:fs";
import { join } from "node:path";

const FOLDERS = {
  accounts: "services/accounts",
  records: "services/records",
  plans: "services/plans",
  webhook: "services/webhook",
  console: "console/server",
  gateway: "gateway",
} as const;

export type DeployedProgram = keyof typeof FOLDERS;

/** The script of this checkout's program, as it is deployed. */
export const scriptOf = (program: DeployedProgram): string => bundleIn(process.cwd(), program);

/**
 * The script of a program of any checkout: of one from before programs were bundled, what `tsc` compiled. Its build leaves the bundle of
 * another release where it is.
 */
export const scriptIn = (root: string, program: DeployedProgram): string =>
  existsSync(join(root, "scripts/bundle-programs.js")) ? bundleIn(root, program) : join(root, FOLDERS[program], "dist/main.js");

const bundleIn = (root: string, program: DeployedProgram): string => join(root, FOLDERS[program], "dist/bundle/main.js");
