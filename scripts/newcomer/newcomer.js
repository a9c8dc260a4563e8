import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import process from "node:process";
import { findCommands } from "../../test/docs/find-commands.js";

/** Bounds of hanging commands, generous for a busy machine. */
const CLONE_SECONDS_MAX = 120;
const INSTALL_SECONDS_MAX = 900;
const START_SECONDS_MAX = 300;
const COMMAND_SECONDS_MAX = 120;
/** The launcher kills what does not stop within 25 s. */
const STOP_SECONDS_MAX = 60;

/** Ports of `npm start` and `brandctl listen` in the README's commands. */
const README_PORT = 8080;
const LISTEN_PORT = 8787;

/** Runs the visit step by step. A step that fails throws with the output of its commands. */
export class Newcomer {
  #repository;
  #folder;
  #shell;
  #wantedPort;

  constructor(repository, folder, shell, wantedPort) {
    this.#repository = repository;
    this.#folder = folder;
    this.#shell = shell;
    this.#wantedPort = wantedPort;
  }

  async visit() {
    await step("git clone", () => this.#clone());
    const port = await freePort(this.#wantedPort ?? README_PORT, { orAny: this.#wantedPort === undefined });
    const commands = findCommands(join(this.#folder, "README.md"));
    /** Finds the README's command that begins with `start` and contains `part`. */
    const readme = (start, part = "") => {
      const found = commands.find((command) => command.startsWith(start) && command.includes(part));
      if (found === undefined) throw new Error(`README.md has no command ${start}${part && ` … ${part}`}`);
      return found.replaceAll(`127.0.0.1:${README_PORT}`, `127.0.0.1:${port}`);
    };
    if (port !== README_PORT) this.#shell.set("PORT", String(port));

    const first = this.#shell.start(readme("npm ci && npm start"));
    await step("npm ci", () => first.shows(/^> tsc -b/m, INSTALL_SECONDS_MAX));
    await step(`npm start, on port ${port}`, () => first.shows(/is running at/, START_SECONDS_MAX));
    const keys = this.#keys();
    await step("the printed sign-in link", () => this.#openConsole(first.output()));
    await step("a request", () => this.#request(readme));
    await step("an event at brandctl listen", () => this.#watchEvent(readme, first.output()));
    await step("Ctrl-C", () => this.#stop(first));

    const second = this.#shell.start("npm start");
    await step("npm start again", () => second.shows(/is running at/, START_SECONDS_MAX));
    await step("a request with the same key", async () => {
      if (this.#keys() !== keys) throw new Error("The keys changed.");
      await this.#request(readme);
    });
    await step("Ctrl-C again", () => this.#stop(second));
    await step("npm run reset", async () => {
      await this.#shell.run("npm run reset", COMMAND_SECONDS_MAX);
      if (existsSync(join(this.#folder, ".local"))) throw new Error(".local is still there.");
    });
  }

  async #clone() {
    const git = (parameters) => this.#shell.run(`git ${parameters}`, CLONE_SECONDS_MAX, this.#repository);
    // Without hard links the clone is independent of the repository.
    await git(`clone --quiet --no-hardlinks . '${this.#folder}'`);
    const [here, cloned] = [await git("rev-parse HEAD"), await git(`-C '${this.#folder}' rev-parse HEAD`)];
    if (here !== cloned) throw new Error(`The clone is at ${cloned}, the repository at ${here}.`);
  }

  /** Returns the keys as text, for comparison. */
  #keys() {
    const { brands } = JSON.parse(readFileSync(join(this.#folder, ".local/run.json"), "utf8"));
    return JSON.stringify(brands.map(({ id, keys }) => [id, keys]));
  }

  /** @param banner the output of `npm start` */
  async #openConsole(banner) {
    const [link] = /http\S+\/sign-in#[\w-]{43}/.exec(banner) ?? [];
    if (link === undefined) throw new Error("npm start prints no sign-in link.");
    const response = await fetch(link);
    const page = await response.text();
    if (!response.ok || !page.includes('id="root"'))
      throw new Error(`The console responded with ${response.status}: ${page.slice(0, 500)}`);
  }

  async #request(readme) {
    const output = await this.#shell.run(
      `${readme("export BRAND_RECORDS_KEY=")}\n${readme("curl", "/api/v1/campaigns?limit=1'")}`,
      COMMAND_SECONDS_MAX,
    );
    const { resource, count } = JSON.parse(output);
    if (resource !== "campaigns" || count !== 1) throw new Error(`This is not a page of one campaign: ${output}`);
  }

  /** @param banner the output of `npm start`, which names the brand and a submission */
  async #watchEvent(readme, banner) {
    const [brand] = /brd_\w+(?=\n\s+reporting)/.exec(banner) ?? [];
    const [submission] = /sub_\w+/.exec(banner) ?? [];
    if (brand === undefined || submission === undefined) throw new Error("npm start names no brand, or no submission.");
    const listenPort = await freePort(LISTEN_PORT, { orAny: true });
    const elsewhere = listenPort === LISTEN_PORT ? "" : ` --port ${listenPort}`;
    const listening = this.#shell.start(readme("npx brandctl listen --brand").replace("brd_…", brand) + elsewhere);
    await listening.shows(/Registered as rcv_/, COMMAND_SECONDS_MAX);
    await this.#shell.run(readme("npx brandctl records set-status submission").replace("sub_…", submission), COMMAND_SECONDS_MAX);
    await listening.shows(/submission\.approved .*verified/, COMMAND_SECONDS_MAX);
    if (!listening.output().includes(submission)) throw new Error("The event is about another submission.");
    await listening.interrupt(STOP_SECONDS_MAX);
  }

  async #stop(running) {
    await running.interrupt(STOP_SECONDS_MAX);
    if (!running.output().includes("Stopped.")) throw new Error("npm start does not report that it stopped.");
    const left = this.#shell.processesLeft();
    if (left.length > 0) throw new Error(`Still running:\n${left.map(({ pid, command }) => `  ${pid} ${command}`).join("\n")}`);
  }
}

/** Prints a step with its duration, and puts its name before the error of one that fails. */
async function step(name, work) {
  const startedAt = performance.now();
  const print = (outcome) =>
    process.stderr.write(`${outcome.padEnd(7)}${name.padEnd(32)}${((performance.now() - startedAt) / 1_000).toFixed(1).padStart(7)} s\n`);
  try {
    await work();
  } catch (error) {
    print("FAILED");
    throw new Error(`${name}: ${error.message}`, { cause: error });
  }
  print("ok");
}

/**
 * Returns `wanted` if it is free on loopback; else, with `orAny`, any free port.
 *
 * @throws if `wanted` is taken and `orAny` is false
 */
async function freePort(wanted, { orAny }) {
  try {
    return await tryPort(Number(wanted));
  } catch (error) {
    if (error.code === "EADDRINUSE" && orAny) return tryPort(0);
    throw error;
  }
}

function tryPort(port) {
  return new Promise((resolve, reject) => {
    const server = createServer().once("error", reject);
    server.listen(port, "127.0.0.1", () => {
      const { port: found } = server.address();
      server.close(() => resolve(found));
    });
  });
}
