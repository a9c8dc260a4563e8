import { join } from "node:path";
import { readJson, writeJson, type LocalFiles } from "../local-files.ts";
import type { RunFile } from "../run-file.ts";

/** Prometheus' file_sd: groups of targets with their labels. */
interface TargetGroup {
  readonly targets: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
}

const EVERY_MS = 1_000;

/**
 * Keeps the targets of Prometheus those of the running system: a restart of `npm start` has other ports. While nothing runs, the targets of the
 * last run stay, so that the alerts name what is down.
 */
export class TargetFile {
  readonly path: string;
  readonly #files: LocalFiles;
  readonly #onChange: (isRunning: boolean) => void;
  #written = "";
  #wasRunning: boolean | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(files: LocalFiles, folder: string, onChange: (isRunning: boolean) => void) {
    this.#files = files;
    this.path = join(folder, "targets.json");
    this.#onChange = onChange;
  }

  start(): void {
    this.#update();
    this.#timer = setInterval(() => this.#update(), EVERY_MS);
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
  }

  #update(): void {
    const run = readJson(this.#files.run) as Pick<RunFile, "admin"> | undefined;
    const isRunning = run !== undefined;
    const groups = isRunning ? groupsOf(run.admin) : ((readJson(this.path) as readonly TargetGroup[] | undefined) ?? []);
    const text = JSON.stringify(groups);
    // Replaces the file: Prometheus never reads half of it.
    if (text !== this.#written) writeJson(this.path, groups);
    this.#written = text;
    if (isRunning !== this.#wasRunning) this.#onChange(isRunning);
    this.#wasRunning = isRunning;
  }
}

const groupsOf = (admin: RunFile["admin"]): TargetGroup[] =>
  Object.entries(admin).map(([service, url]) => ({ targets: [new URL(url).host], labels: { service } }));
