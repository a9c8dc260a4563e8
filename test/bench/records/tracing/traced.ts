/** The variants, with the share of requests whose trace is sampled. */
export const TRACED = { untraced: 0, traced_1: 0.01, traced_100: 1 } as const;

export type TracedName = keyof typeof TRACED;
