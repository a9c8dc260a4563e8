/** Whatever can be owned: it has been started and can be stopped. */
export interface Stoppable {
  stop(): void | Promise<void>;
}

export interface LifecycleLog {
  info(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/**
 * Owns what a process has started and stops it, newest first. One failure to stop never keeps the rest from stopping.
 */
export class Lifecycle {
  readonly #owned: { readonly name: string; readonly resource: Stoppable }[] = [];
  readonly #log: LifecycleLog;
  #ready = false;
  #stopping: Promise<boolean> | undefined;

  constructor(log: LifecycleLog) {
    this.#log = log;
  }

  /** Hands over a started thing; answers it, so that wiring reads as one line. */
  own<T extends Stoppable>(name: string, resource: T): T {
    this.#owned.push({ name, resource });
    return resource;
  }

  /** From here on the process takes work, until it begins to stop. */
  markReady(): void {
    this.#ready = true;
  }

  get isReady(): boolean {
    return this.#ready && this.#stopping === undefined;
  }

  /**
   * Not ready at once; after `graceMs` (balancers learn of it meanwhile) stops everything owned, newest first.
   * Any number of calls stop once. Resolves to false if something could not be stopped properly.
   */
  stop(graceMs = 0): Promise<boolean> {
    this.#stopping ??= this.#stopAll(graceMs);
    return this.#stopping;
  }

  async #stopAll(graceMs: number): Promise<boolean> {
    if (graceMs > 0) await new Promise((resolve) => setTimeout(resolve, graceMs));
    let clean = true;
    for (const { name, resource } of this.#owned.toReversed()) {
      try {
        await resource.stop();
      } catch (error) {
        clean = false;
        this.#log.error({ err: error, resource: name }, "could not be stopped properly");
      }
    }
    return clean;
  }
}
