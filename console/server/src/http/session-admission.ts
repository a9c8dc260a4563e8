import { hash } from "node:crypto";
import { AppError } from "@brand-records/errors";
import { entriesMax, KeyedSemaphore } from "@brand-records/lifecycle";
import { LRUCache } from "lru-cache";
import type { ConsoleConfig } from "../config.ts";
import type { Services } from "../services.ts";
import { readSession, signedOut, type Admitted } from "../sessions.ts";
import { CallLimit } from "./call-limits.ts";
import type { Visitor } from "../operations/operation.ts";

/** 32 bytes in base64url. No other text is looked up. */
const TOKEN = /^[A-Za-z0-9_-]{43}$/;

/** Sessions that this process has lately seen valid. A token that is not among them may be a guess. */
const KNOWN_MAX = 20_000;
const KNOWN_MS = 600_000;

/** Look-ups at a time of tokens that may be guesses. A page makes about six calls at once with a session that is new. */
const LOOKUPS_OF_ADDRESS = 4;
/** The same, of an address that has used up its limit of wrong tokens. */
const LOOKUPS_OF_GUESSING_ADDRESS = 1;
const LOOKUPS_IN_ALL = 16;
/** An office whose sessions are all new to a process that has just started waits, and is not refused. */
const WAITING_OF_ADDRESS = 500;
const WAITING_IN_ALL = 2_000;

/**
 * Finds the person of a session, as accounts knows them at that moment. Many people work behind one address, so a valid session counts
 * against its own limit alone, and its address never refuses it. What no session vouches for is bounded: wrong tokens of an address are
 * counted, and look-ups of tokens that may be wrong run a few at a time.
 */
export class SessionAdmission {
  readonly #services: Services;
  readonly #calls: CallLimit;
  readonly #wrongTokens: CallLimit;
  readonly #known = new LRUCache<string, true>({ ...entriesMax(KNOWN_MAX), ttl: KNOWN_MS, updateAgeOnGet: true });
  readonly #lookups = new KeyedSemaphore({
    perKey: (address) => (this.#wrongTokens.isUsedUp(address) ? LOOKUPS_OF_GUESSING_ADDRESS : LOOKUPS_OF_ADDRESS),
    total: LOOKUPS_IN_ALL,
    waitingPerKey: WAITING_OF_ADDRESS,
    waitingTotal: WAITING_IN_ALL,
  });

  constructor(services: Services, config: Pick<ConsoleConfig, "CALLS_PER_SESSION" | "CALLS_PER_ADDRESS">) {
    this.#services = services;
    this.#calls = new CallLimit(config.CALLS_PER_SESSION);
    this.#wrongTokens = new CallLimit(config.CALLS_PER_ADDRESS);
  }

  /**
   * Counts the call and looks the session up. Memberships and roles are those of the look-up, never remembered ones.
   *
   * @param brandId that the call names, if any
   * @throws AppError `invalid_session`, `rate_limited`
   */
  async admit(token: string, brandId: string | undefined, visitor: Pick<Visitor, "call" | "client">): Promise<Admitted> {
    const { network } = visitor.call;
    const key = hash("sha256", token, "base64url");
    const isKnown = this.#known.get(key) === true;
    // Comes before the look-up: calls of a session that has just ended are bounded, too.
    if (isKnown) this.#calls.spend(key);
    const lookUp = (): Promise<Admitted> => readSession(this.#services, token, brandId, visitor);
    try {
      const admitted = await (isKnown ? lookUp() : this.#lookups.run(network, lookUp));
      if (!isKnown) this.#calls.spend(key);
      this.#known.set(key, true);
      return admitted;
    } catch (error) {
      if (error instanceof AppError && error.kind === "invalid_session") {
        this.#known.delete(key);
        this.#wrongTokens.spend(network);
      }
      throw error;
    }
  }
}

/** @throws AppError `invalid_session` without a look-up, for what cannot be a session's token */
export function requireToken(token: string | undefined): string {
  if (token === undefined || !TOKEN.test(token)) throw signedOut();
  return token;
}
