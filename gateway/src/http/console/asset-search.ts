import { setTimeout as wait } from "node:timers/promises";
import { entriesMax, KeyedSemaphore, NoRoomError } from "@brand-records/lifecycle";
import { LRUCache } from "lru-cache";
import type { ConsoleRequest, ConsoleResponse } from "./upstream.ts";

const ASSETS = "/console/assets/";
/** As the build names its files: with a hash of the content. Nothing else is looked for. */
const NAME = /^[\w.-]{1,80}-[\w-]{8}\.(?:css|js|png|svg|woff2)$/;
/** Connections on which a file is looked for, beside the one that had none. With one of three processes that has it, 1 of 440 finds nothing. */
const TRIES_MAX = 15;
/** A survey, or a search, ends after this time, whatever the processes do. */
const SEARCH_MS_MAX = 5_000;
/** Time between the beginnings of two surveys. */
const SURVEY_EVERY_MS = 1_000;
/** Time in which a network causes one survey at most. */
const SURVEY_OF_NETWORK_EVERY_MS = 5_000;
const NETWORKS_MAX = 20_000;
/** Names that are kept. A release has 84. */
const NAMES_MAX = 2_000;
/** Searches at a time: each try is a connection of its own, with certificates a handshake. */
const SEARCHES = { perKey: () => 8, total: 32, waitingPerKey: 64, waitingTotal: 512, waitMs: SEARCH_MS_MAX };

/**
 * Finds the files of a page at other processes. While processes are replaced, a page names files that those of its release alone have, and
 * its requests reach all. A name holds a hash of the content, so that any process that has it has the right one.
 *
 * Only what a process says it has is searched for: anyone can ask for names that do not exist, and a search costs as much as 37 pages. A
 * survey asks for the lists. It costs the same, and serves all.
 */
export class AssetSearch {
  readonly #ask: (request: ConsoleRequest) => Promise<ConsoleResponse>;
  /** Files that processes had when they were asked. */
  readonly #names = new LRUCache<string, true>(entriesMax(NAMES_MAX));
  /** The last survey that each network caused. */
  readonly #surveys = new LRUCache<string, Promise<void>>({ ...entriesMax(NETWORKS_MAX), ttl: SURVEY_OF_NETWORK_EVERY_MS });
  readonly #searches = new KeyedSemaphore(SEARCHES);
  /** A survey that has not begun. */
  #planned: Promise<void> | undefined;
  #mayBeginAt = 0;

  /** @param ask sends a request on a new connection */
  constructor(ask: (request: ConsoleRequest) => Promise<ConsoleResponse>) {
    this.#ask = ask;
  }

  /**
   * Returns a file that the first process did not have; undefined if no process has it, or the request is for none. A survey that began
   * after the call, or that the network caused in the last five seconds, says which there are.
   */
  async find(request: ConsoleRequest, network: string): Promise<ConsoleResponse | undefined> {
    const name = request.method === "GET" && request.path.startsWith(ASSETS) ? request.path.slice(ASSETS.length) : "";
    if (!NAME.test(name)) return undefined;
    if (!this.#names.has(name)) await this.#surveyFor(network);
    if (!this.#names.has(name)) return undefined;
    try {
      return await this.#searches.run(network, () => this.#search(request, name));
    } catch (error) {
      if (error instanceof NoRoomError) return undefined;
      throw error;
    }
  }

  #surveyFor(network: string): Promise<void> {
    let survey = this.#surveys.get(network);
    if (survey === undefined) {
      survey = this.#planned ??= this.#survey();
      this.#surveys.set(network, survey);
    }
    return survey;
  }

  /** Asks as many processes as new connections reach for the names of their files. */
  async #survey(): Promise<void> {
    await wait(Math.max(0, this.#mayBeginAt - performance.now()), undefined, { ref: false });
    this.#planned = undefined;
    this.#mayBeginAt = performance.now() + SURVEY_EVERY_MS;
    const request = { method: "GET", path: ASSETS, headers: {}, body: undefined, signal: AbortSignal.timeout(SEARCH_MS_MAX) };
    // A process that is just ending, or of a release without this list, adds nothing.
    const ask = async (): Promise<void> => {
      for (const name of JSON.parse((await this.#ask(request)).body.toString()) as string[]) this.#names.set(name, true);
    };
    await Promise.allSettled(Array.from({ length: TRIES_MAX }, ask));
  }

  async #search(request: ConsoleRequest, name: string): Promise<ConsoleResponse | undefined> {
    const signal = AbortSignal.any([request.signal, AbortSignal.timeout(SEARCH_MS_MAX)]);
    for (let tries = 0; tries < TRIES_MAX && !signal.aborted; tries += 1) {
      try {
        const response = await this.#ask({ ...request, signal });
        if (response.statusCode === 200) return response;
      } catch {
        // A process that is just ending does not have it either.
      }
    }
    // The processes that had the file are gone: it is not searched for again.
    if (!signal.aborted) this.#names.delete(name);
    return undefined;
  }
}
