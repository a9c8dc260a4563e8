/** Runs one piece of work at a time, in the order of the calls. A failure rejects its own call and stops nothing behind it. */
export class Mutex {
  #last: Promise<unknown> = Promise.resolve();

  run<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(work);
    this.#last = result.catch(() => {});
    return result;
  }
}
