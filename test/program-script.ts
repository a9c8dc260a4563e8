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
export const scriptOf = (program: DeployedProgram): string => scriptIn(process.cwd(), program);

/** The script of a program of any checkout. */
export const scriptIn = (root: string, program: DeployedProgram): string => join(root, FOLDERS[program], "dist/bundle/main.js");
