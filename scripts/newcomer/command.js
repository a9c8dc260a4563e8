import { spawn } from "node:child_process";
import { once } from "node:events";
import process from "node:process";
import { stripVTControlCharacters } from "node:util";

const OUTPUT_CHARS_SHOWN = 6_000;
/** Of a shell whose command was interrupted: what the command returns, or that it was the signal. */
const INTERRUPTED = new Set([0, 130, "SIGINT"]);

/** A command line that runs in a process group of its own. */
export class Command {
  #line;
  #child;
  #exited;
  #stdout = "";
  #output = "";

  constructor(line, { cwd, env }) {
    this.#line = line;
    this.#child = spawn("bash", ["-euc", line], { cwd, env, detached: true, stdio: ["ignore", "pipe", "pipe"] });
    this.#exited = once(this.#child, "close").then(([code, signal]) => signal ?? code);
    this.#child.stdout.setEncoding("utf8").on("data", (text) => {
      this.#stdout += text;
      this.#output += text;
    });
    this.#child.stderr.setEncoding("utf8").on("data", (text) => (this.#output += text));
  }

  /** stdout and stderr as they came, without colors: CI=true switches them on. */
  output() {
    return stripVTControlCharacters(this.#output);
  }

  /** Resolves when the output matches; throws if the command ends first, or after so long. */
  async shows(pattern, secondsMax) {
    let onData;
    const shown = new Promise((resolve) => {
      onData = () => pattern.test(this.output()) && resolve();
      for (const stream of [this.#child.stdout, this.#child.stderr]) stream.on("data", onData);
      onData();
    });
    const ended = this.#exited.then((how) => {
      if (!pattern.test(this.output())) throw this.#failure(`ended with ${how}`);
    });
    try {
      await this.#within(secondsMax, `does not show ${pattern}`, Promise.race([shown, ended]));
    } finally {
      for (const stream of [this.#child.stdout, this.#child.stderr]) stream.off("data", onData);
      ended.catch(() => {});
    }
  }

  async succeeds(secondsMax) {
    const how = await this.#within(secondsMax, "does not end", this.#exited);
    if (how !== 0) throw this.#failure(`ended with ${how}`);
    return stripVTControlCharacters(this.#stdout);
  }

  /** Ctrl-C: the whole group gets the signal, and is gone when this resolves. */
  async interrupt(secondsMax) {
    this.#signal("SIGINT");
    const how = await this.#within(secondsMax, "does not stop on Ctrl-C", this.#exited);
    if (!INTERRUPTED.has(how)) throw this.#failure(`ended with ${how} on Ctrl-C`);
    if (this.#signal(0)) throw this.#failure("left a process of its group");
  }

  /** Asks first, so that it can stop what it started itself. */
  async kill(secondsMax) {
    if (this.#signal("SIGINT")) await this.#within(secondsMax, "", this.#exited).catch(() => this.#signal("SIGKILL"));
  }

  /** Returns whether there is a process in the group. */
  #signal(signal) {
    try {
      return process.kill(-this.#child.pid, signal);
    } catch (error) {
      if (error.code === "ESRCH") return false;
      throw error;
    }
  }

  async #within(secondsMax, what, promise) {
    let timer;
    const late = new Promise((_, reject) => {
      timer = setTimeout(() => reject(this.#failure(`${what} within ${secondsMax} s`)), secondsMax * 1_000);
    });
    try {
      return await Promise.race([promise, late]);
    } finally {
      clearTimeout(timer);
    }
  }

  #failure(what) {
    const output = this.#output.length > OUTPUT_CHARS_SHOWN ? `…${this.#output.slice(-OUTPUT_CHARS_SHOWN)}` : this.#output;
    return new Error(`${this.#line}\n${what}. Its output:\n\n${output}`);
  }
}
