import { Argument, Option } from "commander";

/** An option that takes a comma-separated list; completion offers `items` for each item. */
export class ListOption extends Option {
  readonly items: readonly string[];

  constructor(flags: string, description: string, items: readonly string[]) {
    super(flags, description);
    this.items = items;
  }
}

/** An argument whose values depend on the command's first argument. */
export class DependentArgument extends Argument {
  /** Keys are first arguments. */
  readonly valuesBy: ReadonlyMap<string, readonly string[]>;

  constructor(name: string, description: string, valuesBy: ReadonlyMap<string, readonly string[]>) {
    super(name, description);
    this.valuesBy = valuesBy;
  }
}
