import type { AuditAction, Output, ParsedInput, OperationName } from "@brand-records/console-contract";
import { AppError } from "@brand-records/errors";
import { isUnimplemented, newCallContext, type CallContext } from "@brand-records/rpc";
import type { Logger } from "@brand-records/telemetry";
import type { Services } from "./services.ts";
import type { Person } from "./sessions.ts";

const FINISH_DEADLINE_MS = 5_000;
/** Kinds of error after which the change may have been made. */
const UNKNOWN_OUTCOMES: ReadonlySet<string> = new Set(["unavailable", "timeout", "internal_error"]);

export interface AuditDependencies {
  readonly services: Services;
  readonly log: Logger;
}

/** What the audit log says about an operation that changes something: names and ids, never values. */
export interface Audit<Name extends OperationName> {
  readonly action: AuditAction;
  /** The id of what is changed. */
  subject?(input: ParsedInput<Name>): string;
  /** The id of what was created. */
  created?(output: Output<Name>): string;
  fields?(input: ParsedInput<Name>): string[];
  /** The role that a member gets. */
  role?(input: ParsedInput<Name>): string;
}

/** What an operation that may change something says of itself. */
export interface Audited<Name extends OperationName> {
  /** Required of every operation that changes something of a brand. */
  readonly audit?: Audit<Name>;
}

/** Who changes something, of which brand, in which call. */
interface Actor {
  readonly brand: { readonly brand_id: string };
  readonly person: Pick<Person, "email" | "via">;
  readonly address: string;
  readonly call: CallContext;
}

/**
 * Runs an operation. One that changes something is written to the audit log of its brand first, and is refused if that fails; its
 * outcome is added afterwards, even if the caller has disconnected.
 */
export async function runAudited<Name extends OperationName>(
  { services, log }: AuditDependencies,
  audit: Audit<Name> | undefined,
  { brand, person, address, call }: Actor,
  input: ParsedInput<Name>,
  run: () => Promise<Output<Name>>,
): Promise<Output<Name>> {
  if (audit === undefined) return run();
  const { entry } = await services.audit.appendAudit(
    {
      brand_id: brand.brand_id,
      actor: person.email,
      action: audit.action,
      subject_id: audit.subject?.(input) ?? null,
      fields: audit.fields?.(input) ?? [],
      request_id: call.requestId,
      address: address || null,
      via: person.via,
      role: audit.role?.(input) ?? null,
    },
    call,
  );
  const finish = async (outcome: "done" | "failed" | "unknown", error_kind: string | null, subject_id: string | null): Promise<void> => {
    const { traceparent, grants } = call;
    const context = { ...newCallContext(FINISH_DEADLINE_MS, call.requestId), traceparent, ...(grants && { grants }) };
    try {
      await services.audit.finishAudit({ brand_id: brand.brand_id, entry_id: entry?.id ?? "", outcome, error_kind, subject_id }, context);
    } catch (error) {
      // The change is made or refused already: the entry stays without an outcome.
      log.warn({ err: error, request_id: call.requestId, action: audit.action, outcome }, "audit outcome not written");
    }
  };
  try {
    const output = await run();
    await finish("done", null, audit.created?.(output) ?? null);
    return output;
  } catch (error) {
    const { kind } = AppError.from(error);
    const mayBeMade = UNKNOWN_OUTCOMES.has(kind) && !isUnimplemented(error);
    await finish(mayBeMade ? "unknown" : "failed", kind, null);
    throw error;
  }
}
