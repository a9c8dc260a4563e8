/** Ids to remember: some hundred bytes each, a few MB in total. */
const IDS_MAX = 10_000;

/** Runs an action once for each id that it remembers. A failed action may run again. */
export class Once {
  /** In order of completion. @type {Set<string>} */
  #done = new Set();
  /** @type {Map<string, Promise<void>>} */
  #inFlight = new Map();

  get inFlight() {
    return this.#inFlight.size;
  }

  /**
   * A call with the id of an action in flight waits for that action.
   *
   * @param {string} id
   * @param {() => Promise<void>} action
   * @returns {Promise<boolean>} false if the action ran before
   */
  async run(id, action) {
    if (this.#done.has(id)) return false;
    const already = this.#inFlight.get(id);
    if (already !== undefined) {
      await already;
      return false;
    }
    const running = action();
    this.#inFlight.set(id, running);
    try {
      await running;
      this.#remember(id);
      return true;
    } finally {
      this.#inFlight.delete(id);
    }
  }

  /** @param {string} id */
  #remember(id) {
    this.#done.add(id);
    if (this.#done.size <= IDS_MAX) return;
    for (const oldest of this.#done) {
      this.#done.delete(oldest);
      return;
    }
  }
}
