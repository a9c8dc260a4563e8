import type { LateIndex } from "@brand-records/postgres";

const of = (column: string): LateIndex => ({
  name: `plans_${column}`,
  table: "plans.plans",
  definition: `(${column}) where ${column} is not null`,
});

/** Indexes for the operator's export and erasure of a person. A migration would stop all writes of plans meanwhile. */
export const LATE_INDEXES: readonly LateIndex[] = [of("closed_by"), of("edited_by")];
