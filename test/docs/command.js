import { spawn } from "node:child_process";
import { once } from "node:events";
import process from "node:process";
import { stripVTControlCharacters } from "node:util";

const OUTPUT_CHARS_SHOWN = 6_000;
/** How an interrupted shell ends: with 0 or 130 from its command, or by the signal. */
const INTERRUPTED = new Set([0, 130, "SIGINT"]);

/** A command line that runs in its own process group. */
export class Command {
  #line;
  #child;
  #exited;
  #stdout = "";
  #output = "";

  /**
   * @param {string} line
   * @param {{ cwd: string; env: NodeJS.ProcessEnv }} options
   */
  constructor(line, { cwd, env }) {
    this.#line = line;
    this.#child = spawn("bash", ["--norc", "-euc", line], { cwd, env, detached: true, stdio: ["ignore", "pipe", "pipe"] });
    this.#exited = once(this.#child, "close").then(([code, signal]) => signal ?? code);
    this.#child.stdout.setEncoding("utf8").on("data", (text) => {
      this.#stdout += text;
      this.#output += text;
    });
    this.#child.stderr.setEncoding("utf8").on("data", (text) => (this.#output += text));
  }

  /** stdout and stderr interleaved, without colors: CI=true switches them on. */
  output() {
    return stripVTControlCharacters(this.#output);
  }

  /**
   * Resolves when the output matches.
   *
   * @param {RegExp} pattern
   * @param {number} secondsMax
   * @throws if the command ends first, or after `secondsMax`
   */
  async shows(pattern, secondsMax) {
    /** @type {() => void} */
    let onData = () => {};
    /** @type {Promise<void>} */
    const shown = new Promise((resolve) => {
      onData = () => {
        if (pattern.test(this.output())) resolve();
      };
      for (const stream of [this.#child.stdout, this.#child.stderr]) stream.on("data", onData);
      onData();
    });
    const ended = this.#exited.then((exit) => {
      if (!pattern.test(this.output())) throw this.#failure(`ended with ${exit}`);
    });
    try {
      await this.#withTimeout(secondsMax, `does not show ${pattern}`, Promise.race([shown, ended]));
    } finally {
      for (const stream of [this.#child.stdout, this.#child.stderr]) stream.off("data", onData);
      ended.catch(() => {});
    }
  }

  /**
   * Returns stdout when the command has ended.
   *
   * @param {number} secondsMax
   * @throws with the output, if the exit code is not 0
   */
  async succeeds(secondsMax) {
    const exit = await this.#withTimeout(secondsMax, "does not end", this.#exited);
    if (exit !== 0) throw this.#failure(`ended with ${exit}`);
    return stripVTControlCharacters(this.#stdout);
  }

  /**
   * Presses Ctrl-C: the whole group gets the signal, and has exited when this resolves.
   *
   * @param {number} secondsMax
   */
  async interrupt(secondsMax) {
    this.#signal("SIGINT");
    const exit = await this.#withTimeout(secondsMax, "does not stop on Ctrl-C", this.#exited);
    if (!INTERRUPTED.has(exit)) throw this.#failure(`ended with ${exit} on Ctrl-C`);
    if (this.#signal(0)) throw this.#failure("left a process of its group");
  }

  /**
   * Interrupts first, so that the command can stop what it started, and kills after `secondsMax`.
   *
   * @param {number} secondsMax
   */
  async kill(secondsMax) {
    if (this.#signal("SIGINT")) await this.#withTimeout(secondsMax, "", this.#exited).catch(() => this.#signal("SIGKILL"));
  }

  /**
   * Returns whether the group has a process.
   *
   * @param {NodeJS.Signals | 0} signal
   */
  #signal(signal) {
    try {
      return process.kill(-(/** @type {number} */ (this.#child.pid)), signal);
    } catch (error) {
      if (/** @type {NodeJS.ErrnoException} */ (error).code === "ESRCH") return false;
      throw error;
    }
  }

  /**
   * @template T
   * @param {number} secondsMax
   * @param {string} failure
   * @param {Promise<T>} promise
   * @returns {Promise<T>}
   */
  async #withTimeout(secondsMax, failure, promise) {
    /** @type {NodeJS.Timeout | undefined} */
    let timer;
    /** @type {Promise<never>} */
    const late = new Promise((_, reject) => {
      timer = setTimeout(() => reject(this.#failure(`${failure} within ${secondsMax} s`)), secondsMax * 1_000);
    });
    try {
      return await Promise.race([promise, late]);
    } finally {
      clearTimeout(timer);
    }
  }

  /** @param {string} what */
  #failure(what) {
    const output = this.#output.length > OUTPUT_CHARS_SHOWN ? `…${this.#output.slice(-OUTPUT_CHARS_SHOWN)}` : this.#output;
    return new Error(`${this.#line}\n${what}. Its output:\n\n${output}`);
  }
}
