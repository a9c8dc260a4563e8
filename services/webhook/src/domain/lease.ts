/** Beyond the deadline: for the claim before it and the result after it. */
const LEASE_MARGIN_SECONDS = 15;

/** How long a claimed delivery belongs to its worker. */
export const leaseSecondsFor = (deadlineMs: number): number => Math.ceil(deadlineMs / 1_000) + LEASE_MARGIN_SECONDS;
