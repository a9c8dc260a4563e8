import type { ProcessIdentity } from "@brand-records/lifecycle";

/**
 * `.local/run.json`: every address, and the demo brands' keys. brandctl and tests read it. It exists from before the gateway
 * listens until the launcher stops, so a script that waits for the port never reads the addresses of an earlier run.
 */
export interface RunFile {
  /** Distinguishes a live run from one that was killed and left its file. */
  readonly launcher: ProcessIdentity;
  readonly base_url: string;
  /** Metrics and probes of each process. */
  readonly admin: Readonly<Record<string, string>>;
  /** gRPC address of each service. */
  readonly rpc: Readonly<Record<string, string>>;
  /** gRPC address of records in each cell with a name, and the database of every cell, by a superuser. Empty without cells. */
  readonly cells: Readonly<Record<string, string>>;
  readonly cell_databases: Readonly<Record<string, string>>;
  /** The platform's connection for writing records; `brandctl records set-status` and tests use it. */
  readonly platform_database_url: string;
  readonly console: {
    readonly url: string;
    /** Signs in the owner of the example brand, once and within 24 hours; null without sign-in links. */
    readonly sign_in_url: string | null;
  };
  readonly brands: readonly RunBrand[];
}

export interface RunBrand {
  readonly id: string;
  readonly name: string;
  readonly tier: string;
  /** E-mail address of an owner. */
  readonly owner: string;
  readonly keys: { readonly reporting: string; readonly planner: string };
}
