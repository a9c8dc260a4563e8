import { execFileSync } from "node:child_process";
import process from "node:process";
import { Command } from "./command.js";

/** What a newcomer has in the environment: nothing of the product's settings, and no Node but the machine's own. */
const INHERITED = /^(PATH|HOME|USER|LOGNAME|SHELL|LANG|LC_\w+|TMPDIR|TERM|CI|\w+_proxy|npm_config_\w+|NODE_EXTRA_CA_CERTS|SSL_CERT_\w+)$/i;
/** The launcher kills what does not stop within 25 s. */
const STOP_SECONDS_MAX = 40;

/** Runs command lines in a folder, each in a process group of its own, as a terminal does. */
export class Shell {
  #folder;
  #env;
  #commands = [];

  constructor(folder, env) {
    this.#folder = folder;
    this.#env = Object.fromEntries(Object.entries(env).filter(([name]) => INHERITED.test(name)));
    this.#env.PATH = env.PATH.split(":")
      .filter((entry) => !entry.includes("node_modules"))
      .join(":");
  }

  set(name, value) {
    this.#env[name] = value;
  }

  /** Returns at once. */
  start(line, folder = this.#folder) {
    const command = new Command(line, { cwd: folder, env: this.#env });
    this.#commands.push(command);
    return command;
  }

  /** Returns its stdout; throws if its exit code is not 0. */
  run(line, secondsMax, folder = this.#folder) {
    return this.start(line, folder).succeeds(secondsMax);
  }

  /** Processes that run a program or a script of the folder: those that outlive their command too. */
  processesLeft() {
    const isOurs = (command) =>
      command.startsWith(`${this.#folder}/`) || (/^\S*node /.test(command) && command.includes(` ${this.#folder}/`));
    const lines = execFileSync("ps", ["-A", "-ww", "-o", "pid=,stat=,args="], { encoding: "utf8" }).split("\n");
    return lines.flatMap((line) => {
      const [, pid, state = "Z", command = ""] = /^\s*(\d+)\s+(\S+)\s+(.*)$/.exec(line) ?? [];
      return isOurs(command) && !state.startsWith("Z") && Number(pid) !== process.pid ? [{ pid: Number(pid), command }] : [];
    });
  }

  /** Nothing that was started survives this. */
  async killAll() {
    for (const command of this.#commands) await command.kill(STOP_SECONDS_MAX);
    for (const { pid } of this.processesLeft()) process.kill(pid, "SIGKILL");
  }
}
