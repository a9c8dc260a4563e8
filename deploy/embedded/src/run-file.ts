/** `.local/run.json`: where everything is, and the demo brands' keys. brandctl and tests read it. */
export interface RunFile {
  readonly base_url: string;
  /** Metrics and probes of each process. */
  readonly admin: Readonly<Record<string, string>>;
  /** gRPC address of each service. */
  readonly rpc: Readonly<Record<string, string>>;
  /** Where the platform would write its records. brandctl records set-status does, and tests. */
  readonly platform_database_url: string;
  readonly brands: readonly RunBrand[];
}

export interface RunBrand {
  readonly id: string;
  readonly name: string;
  readonly tier: string;
  readonly keys: { readonly reporting: string; readonly planner: string };
}
