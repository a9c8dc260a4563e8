import type { AuditLog } from "./audit-log.ts";

/** A call without an entry: it reads, or what it changes belongs to no single brand. */
export const UNAUDITED = "unaudited";

/** How a changing call is written into the audit log. */
export interface AuditedCall<Request, Response> {
  /** Such as `key.create`. */
  readonly action: string;
  readonly brand: (request: Request) => string | null | undefined;
  /** What is changed. */
  readonly subject?: (request: Request) => string;
  /** What was created. */
  readonly created?: (response: Response) => string | undefined;
  /** Fields of the request that the change sets, if they are given. Only their names are written. */
  readonly fields: readonly (keyof Request & string)[];
  /** The role that a member gets. */
  readonly role?: (request: Request) => string;
}

/** Every method of a client. The compiler names a method of the protocol that is missing here. */
export type AuditedCalls<Client> = {
  readonly [Name in Exclude<keyof Client, "stop">]: Client[Name] extends (
    request: infer Request,
    requestId?: string,
  ) => Promise<infer Response>
    ? typeof UNAUDITED | AuditedCall<Request, Response>
    : never;
};

type Call = (request: Record<string, unknown>, requestId?: string) => Promise<unknown>;

/** Returns a client whose changing calls write into the audit log, so that no command can forget it. */
export function auditedClient<Client extends { stop(): void }>(client: Client, calls: AuditedCalls<Client>, log: AuditLog): Client {
  const audited: Record<string, unknown> = { ...client };
  for (const [name, audit] of Object.entries(calls) as [string, typeof UNAUDITED | AuditedCall<Record<string, unknown>, unknown>][]) {
    if (audit === UNAUDITED) continue;
    const call = audited[name] as Call;
    audited[name] = (request: Record<string, unknown>): Promise<unknown> => {
      const subject = audit.subject?.(request);
      const change = {
        brand_id: audit.brand(request) ?? "",
        action: audit.action,
        // What cannot be an id or an address is refused by the service, with a better message.
        ...(subject !== undefined && /^[^\s\p{Cc}]{1,254}$/u.test(subject) && { subject_id: subject }),
        fields: audit.fields.filter((field) => isGiven(request[field])),
        ...(audit.role !== undefined && { role: audit.role(request) }),
      };
      return log.around(change, (requestId) => call(request, requestId), audit.created);
    };
  }
  return audited as Client;
}

const isGiven = (value: unknown): boolean => value != null && !(Array.isArray(value) && value.length === 0);
