import { fork, type ChildProcess } from "node:child_process";
import { closeSync, mkdirSync, openSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { NODE_ARGUMENTS } from "@brand-records/lifecycle";
import { LaunchError } from "./launch-error.ts";

const BACK_OFF_MS_MIN = 100;
const BACK_OFF_MS_MAX = 5_000;
/** A process that lived this long was well: the next back-off starts small again. */
const WELL_AFTER_MS = 10_000;
const STOP_WITHIN_MS = 25_000;

export interface Program {
  readonly name: string;
  /** Compiled main module. */
  readonly script: string;
  readonly env: NodeJS.ProcessEnv;
  /** Its output goes here. */
  readonly logFile: string;
}

export interface SupervisorEvents {
  /** The processes alive have changed. */
  changed(): void;
  died(name: string, why: string, backOffMs: number): void;
  recovered(name: string): void;
}

/** Keeps one process running until it is stopped: whatever ends it, it is started again, with growing pauses. */
export class Supervisor {
  readonly #program: Program;
  readonly #events: SupervisorEvents;
  #child: ChildProcess | undefined;
  #restart: NodeJS.Timeout | undefined;
  #backOffMs = BACK_OFF_MS_MIN;
  #stopping = false;

  constructor(program: Program, events: SupervisorEvents) {
    this.#program = program;
    this.#events = events;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** @throws LaunchError with the end of its output if it does not get ready the first time */
  async start(): Promise<void> {
    try {
      await this.#spawn();
    } catch (error) {
      this.#stopping = true;
      clearTimeout(this.#restart);
      throw new LaunchError(`${this.#program.name} did not start: ${String(error)}\n${tail(this.#program.logFile)}`);
    }
  }

  /** Asks the process to finish its work; resolves when it is gone. */
  async stop(): Promise<void> {
    this.#stopping = true;
    clearTimeout(this.#restart);
    const child = this.#child;
    if (child === undefined) return;
    const gone = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGTERM");
    const kill = setTimeout(() => child.kill("SIGKILL"), STOP_WITHIN_MS);
    await gone;
    clearTimeout(kill);
  }

  #spawn(): Promise<void> {
    const { script, env, logFile } = this.#program;
    mkdirSync(dirname(logFile), { recursive: true });
    const output = openSync(logFile, "a");
    const startedAt = Date.now();
    const child = fork(script, {
      execArgv: [...NODE_ARGUMENTS],
      env,
      stdio: ["ignore", output, output, "ipc"],
      // Ctrl-C goes to the whole foreground group: all would stop at once, in the middle of each other's answers.
      detached: true,
    });
    closeSync(output);
    this.#child = child;
    this.#events.changed();
    return new Promise((resolve, reject) => {
      child.once("message", () => resolve());
      child.once("error", (error) => {
        reject(error);
        // Not even forked: no exit will come.
        if (child.pid === undefined && !this.#stopping) this.#restartLater(error.message, 0);
      });
      child.once("exit", (code, signal) => {
        this.#child = undefined;
        this.#events.changed();
        const why = signal ?? `exit code ${code}`;
        reject(new Error(why));
        if (!this.#stopping) this.#restartLater(why, Date.now() - startedAt);
      });
    });
  }

  #restartLater(why: string, livedMs: number): void {
    if (livedMs >= WELL_AFTER_MS) this.#backOffMs = BACK_OFF_MS_MIN;
    this.#events.died(this.#program.name, why, this.#backOffMs);
    this.#restart = setTimeout(() => {
      this.#spawn().then(
        () => this.#events.recovered(this.#program.name),
        () => {}, // Its end has been told, and has set the next restart.
      );
    }, this.#backOffMs);
    this.#backOffMs = Math.min(this.#backOffMs * 2, BACK_OFF_MS_MAX);
  }
}

/** Enough for a stack that Node prints with the line it is about. */
const TAIL_LINES = 25;

function tail(path: string): string {
  return readFileSync(path, "utf8").split("\n").slice(-TAIL_LINES).join("\n").trimEnd();
}
