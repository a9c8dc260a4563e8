/** A resource that has been started and can be stopped. */
export interface Stoppable {
  stop(): void | Promise<void>;
}

export interface LifecycleLog {
  info(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** Owns the resources a process has started and stops them, newest first. A failure to stop one never prevents stopping the rest. */
export class Lifecycle {
  readonly #owned: { readonly name: string; readonly resource: Stoppable }[] = [];
  readonly #log: LifecycleLog;
  #ready = false;
  #stopping: Promise<boolean> | undefined;

  constructor(log: LifecycleLog) {
    this.#log = log;
  }

  /** Takes ownership of a started resource and returns it, so that wiring fits on one line. */
  own<T extends Stoppable>(name: string, resource: T): T {
    this.#owned.push({ name, resource });
    return resource;
  }

  /** Makes the process ready for work, until it begins to stop. */
  markReady(): void {
    this.#ready = true;
  }

  get isReady(): boolean {
    return this.#ready && this.#stopping === undefined;
  }

  /**
   * Becomes not ready immediately. After `graceMs`, in which balancers notice, stops everything owned, newest first. Repeated calls
   * stop once. Resolves to false if a resource failed to stop.
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
        this.#log.error({ err: error, resource: name }, "could not stop");
      }
    }
    return clean;
  }
}
