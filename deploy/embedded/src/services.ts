/** Services with a schema, a role and a process of their own. */
export const SERVICES = ["accounts", "plans", "records", "webhook"] as const;

export type ServiceName = (typeof SERVICES)[number];
