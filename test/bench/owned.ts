export interface Stoppable {
  stop(): Promise<void> | void;
}

interface Entry {
  readonly name: string;
  end(): Promise<void>;
}

/** Whatever was started, to be stopped newest first. What is still starting is stopped as soon as it has started. */
export class Owned {
  readonly #entries: Entry[] = [];
  #stopping: Promise<void> | undefined;

  /** Answers `starting`. Owned from this moment on, not only once it has started: Ctrl-C may come in between. */
  own<T>(name: string, starting: Promise<T>, ...[end]: T extends Stoppable ? [] : [end: (started: T) => Promise<void>]): Promise<T> {
    const stop = end ?? ((started: T) => (started as Stoppable).stop());
    this.#entries.push({
      name,
      end: async () => {
        const started = await starting.then(
          (value) => ({ value }),
          () => undefined,
        );
        if (started !== undefined) await stop(started.value);
      },
    });
    return starting;
  }

  /** Any number of calls. One that cannot be stopped is told of and does not keep the others from it. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stopAll();
    return this.#stopping;
  }

  async #stopAll(): Promise<void> {
    for (let entry = this.#entries.pop(); entry !== undefined; entry = this.#entries.pop()) {
      await entry.end().catch((error: unknown) => process.stderr.write(`${entry?.name} could not be stopped: ${String(error)}\n`));
    }
  }
}
