export interface Stoppable {
  stop(): Promise<void> | void;
}

interface Entry {
  readonly name: string;
  end(): Promise<void>;
}

/** Stops what was started, newest first. What is still starting is stopped once it has started. */
export class Owned {
  readonly #entries: Entry[] = [];
  #stopping: Promise<void> | undefined;

  /** Returns `starting`, and owns its result from now on: Ctrl-C may arrive before it has started. */
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

  /** Stops everything once; reports what cannot be stopped and continues. */
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
