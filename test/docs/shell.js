import { execFileSync } from "node:child_process";
import process from "node:process";
import { Command } from "./command.js";

/** What a newcomer's environment holds: no setting of the product or of these tests, and no Node but the machine's. */
const INHERITED =
  /^(PATH|HOME|USER|LOGNAME|SHELL|LANG|LC_\w+|TMPDIR|TERM|CI|JAVA_HOME|\w+_proxy|npm_config_\w+|NODE_EXTRA_CA_CERTS|SSL_CERT_\w+)$/i;
/** The launcher kills what does not stop within 25 s. */
const STOP_SECONDS_MAX = 40;

/** Runs command lines in a folder, each in its own process group, as a terminal does. scripts/newcomer.js uses it too. */
export class Shell {
  #folder;
  #env;
  /** @type {Command[]} */
  #commands = [];

  /**
   * @param {string} folder
   * @param {NodeJS.ProcessEnv} env
   */
  constructor(folder, env) {
    this.#folder = folder;
    /** @type {Record<string, string | undefined>} */
    this.#env = Object.fromEntries(Object.entries(env).filter(([name]) => INHERITED.test(name)));
    this.#env["PATH"] = (env["PATH"] ?? "")
      .split(":")
      .filter((entry) => !entry.includes("node_modules"))
      .join(":");
  }

  /**
   * Sets a variable for the commands that start from now on.
   *
   * @param {string} name
   * @param {string} value
   */
  set(name, value) {
    this.#env[name] = value;
  }

  /**
   * Starts a command and returns immediately.
   *
   * @param {string} line
   */
  start(line, folder = this.#folder) {
    const command = new Command(line, { cwd: folder, env: { ...this.#env } });
    this.#commands.push(command);
    return command;
  }

  /**
   * Returns the command's stdout.
   *
   * @param {string} line
   * @param {number} secondsMax
   * @returns {Promise<string>}
   * @throws with the output, if the exit code is not 0
   */
  run(line, secondsMax, folder = this.#folder) {
    return this.start(line, folder).succeeds(secondsMax);
  }

  /** Lists processes that run a program or a script of the folder, including those that outlive their command. */
  processesLeft() {
    /** @param {string} command */
    const isOfFolder = (command) =>
      command.startsWith(`${this.#folder}/`) || (/^\S*node /.test(command) && command.includes(` ${this.#folder}/`));
    const lines = execFileSync("ps", ["-A", "-ww", "-o", "pid=,stat=,args="], { encoding: "utf8" }).split("\n");
    return lines.flatMap((line) => {
      const [, pid, state = "Z", command = ""] = /^\s*(\d+)\s+(\S+)\s+(.*)$/.exec(line) ?? [];
      return isOfFolder(command) && !state.startsWith("Z") && Number(pid) !== process.pid ? [{ pid: Number(pid), command }] : [];
    });
  }

  /** Ends every command and every process that it left. */
  async killAll() {
    for (const command of this.#commands) await command.kill(STOP_SECONDS_MAX);
    for (const { pid } of this.processesLeft()) process.kill(pid, "SIGKILL");
  }
}
