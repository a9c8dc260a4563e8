/** So many ids are remembered: some hundred bytes each, so a few MB at most. */
const IDS_MAX = 10_000;

/** Does something once for each id, as far as it remembers. What failed may be tried again. */
export class Once {
  /** In the order in which they were done. @type {Set<string>} */
  #done = new Set();
  /** @type {Map<string, Promise<void>>} */
  #underWay = new Map();

  get underWay() {
    return this.#underWay.size;
  }

  /**
   * Whoever comes with the same id while it is being done waits for the same end.
   *
   * @param {string} id
   * @param {() => Promise<void>} action
   * @returns {Promise<boolean>} false if it was done before
   */
  async run(id, action) {
    if (this.#done.has(id)) return false;
    const already = this.#underWay.get(id);
    if (already !== undefined) {
      await already;
      return false;
    }
    const running = action();
    this.#underWay.set(id, running);
    try {
      await running;
      this.#remember(id);
      return true;
    } finally {
      this.#underWay.delete(id);
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
