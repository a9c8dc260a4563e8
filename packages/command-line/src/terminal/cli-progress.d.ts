/** The part of cli-progress that is used here; the package has no types. */
declare module "cli-progress" {
  interface Options {
    readonly format: string;
    readonly stream: NodeJS.WritableStream;
    readonly hideCursor: boolean;
    readonly clearOnComplete: boolean;
    readonly barsize: number;
    readonly fps: number;
    readonly gracefulExit: boolean;
    readonly barCompleteChar: string;
    readonly barIncompleteChar: string;
  }

  class SingleBar {
    constructor(options: Options);
    start(total: number, startValue: number, payload: Readonly<Record<string, string>>): void;
    update(value: number, payload: Readonly<Record<string, string>>): void;
    stop(): void;
  }

  const cliProgress: { readonly SingleBar: typeof SingleBar };
  export default cliProgress;
}
