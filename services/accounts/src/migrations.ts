import { fileURLToPath } from "node:url";

export const MIGRATIONS = fileURLToPath(new URL("../migrations", import.meta.url));
