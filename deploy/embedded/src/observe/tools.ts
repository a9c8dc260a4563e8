import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { LaunchError } from "../requirements.ts";

export interface Tools {
  readonly prometheus: string;
  readonly alertmanager: string;
}

/** Debian's Alertmanager has a prefix. */
const NAMES = { prometheus: ["prometheus"], alertmanager: ["alertmanager", "prometheus-alertmanager"] } as const;

const REMEDY = `  Debian, Ubuntu: sudo apt-get install --no-install-recommends prometheus prometheus-alertmanager
                  It starts them as services too; to stop those: sudo systemctl disable --now prometheus prometheus-alertmanager
  macOS:          brew install prometheus; Alertmanager from https://prometheus.io/download
  others:         https://prometheus.io/download
Put both programs on the PATH. Nothing is installed for you.`;

/** @throws LaunchError that names what is missing and how to get it */
export function findTools(path: string): Tools {
  const find = (names: readonly string[]): string | undefined =>
    path
      .split(delimiter)
      .flatMap((folder) => names.map((name) => join(folder, name)))
      .find(isExecutable);
  const prometheus = find(NAMES.prometheus);
  const alertmanager = find(NAMES.alertmanager);
  if (prometheus !== undefined && alertmanager !== undefined) return { prometheus, alertmanager };
  const missing = [...(prometheus === undefined ? ["prometheus"] : []), ...(alertmanager === undefined ? ["alertmanager"] : [])];
  throw new LaunchError(`Missing: ${missing.join(" and ")}.\n${REMEDY}`);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
