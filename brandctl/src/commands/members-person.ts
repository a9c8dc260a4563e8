import { setTimeout as pause } from "node:timers/promises";
import { AppError } from "@brand-records/errors";
import type { ErasePersonRequest } from "@brand-records/proto/accounts/v1";
import { counted, printable } from "@brand-records/command-line";
import type { AccountsOperatorClient } from "../connection/clients.ts";
import { CommandFailure, Interrupted } from "../failure.ts";
import { isEmpty, readPerson, type PersonRecords } from "../people/read-person.ts";
import { command, type Session } from "../session.ts";
import { personArgument, yesOption } from "./options.ts";
import { personText } from "../output/person-text.ts";

export const erase = command("erase", {
  summary: "replace a person who has left by a pseudonym",
  description:
    "Erase a person who is a member of no brand: delete the sessions, sign-in links and accounts at sign-in providers, and put one pseudonym in place of the e-mail address in audit logs, keys and plans, in every service. The IP addresses of the person's audit entries are removed. It asks first, and takes at least 35 seconds. If it is interrupted, the same command continues. The audit log of each brand concerned gets an entry.",
  arguments: [personArgument()],
  options: { yes: yesOption("erase without asking") },
  examples: [["brandctl members erase ana@brand.example", "after members export, and members remove from each brand"]],
  run: async (session, { yes }, email: string) => {
    const person = await readPerson(session, email);
    if (isEmpty(person))
      throw nothingKept(email, "An address that was erased is not known any more: an erasure that has finished leaves the same.");
    refuseMember(person);
    if (yes !== true) await session.confirm(questionOf(person), "Nothing was erased.");
    const { pseudonym, brandIds, byAnother } = await erasePerson(session, person.email);
    if (byAnother) session.note(({ dim }) => dim("Another command, at the same time, finished this erasure."));
    session.print({ erased: { email: person.email, pseudonym, brand_ids: brandIds } }, ({ bold }) =>
      [`${printable(email)} is erased.`, brandIds.length === 0 ? "" : ` In its place is ${bold(pseudonym)}.`].join(""),
    );
  },
});

interface Erased {
  readonly pseudonym: string;
  /** Brands whose audit log has an entry; of another command's erasure, those in which plans or webhook had something of the person. */
  readonly brandIds: string[];
  readonly byAnother: boolean;
}

/**
 * The pseudonym first, accounts last: until then a repetition goes on with the same one. In the other services twice: the first time tells
 * early whether they can be reached, the second finds what requests from before the removal have written.
 */
async function erasePerson(session: Session, email: string): Promise<Erased> {
  const accounts = session.client("accounts.operator");
  const others = [session.client("plans.operator"), session.client("webhook.operator")];
  const { pseudonym, settles_in_ms } = await accounts.beginErasure({ email });
  const brandIds = new Set<string>();
  const eraseFromOthers = async (): Promise<void> => {
    for (const service of others) for (const id of (await service.erasePerson({ email, pseudonym })).brand_ids) brandIds.add(id);
  };
  try {
    await eraseFromOthers();
    await untilSettled(session, settles_in_ms);
    if (!(await isUnderWay(session, email, pseudonym))) return { pseudonym, brandIds: [...brandIds], byAnother: true };
    await eraseFromOthers();
    const byThis = await endErasure(session, accounts, { email, brand_ids: [...brandIds] });
    return { pseudonym, brandIds: byThis ?? [...brandIds], byAnother: byThis === undefined };
  } catch (error) {
    throw begunFailure(session, error, email);
  }
}

async function untilSettled(session: Session, settlesInMs: number): Promise<void> {
  if (settlesInMs === 0) return;
  session.note(({ dim }) => dim(`Waiting ${Math.ceil(settlesInMs / 1_000)} s for requests from before the person's removal to end.`));
  await pause(settlesInMs, undefined, { signal: session.terminal.interrupted });
}

/**
 * Returns false if another command has ended this erasure. It ends as well when the person is added to a brand: what plans have since is
 * of another stay, and keeps the address.
 *
 * @throws AppError `still_a_member`; CommandFailure if the person was removed again
 */
async function isUnderWay(session: Session, email: string, pseudonym: string): Promise<boolean> {
  const person = await readPerson(session, email);
  if (person.memberships.length > 0) {
    throw new AppError("still_a_member", "The person was added to a brand meanwhile: the erasure is over, and not finished.");
  }
  if (person.erasures.some((erasure) => erasure.pseudonym === pseudonym)) return true;
  if (isEmpty(person)) return false;
  throw new CommandFailure(
    "request_conflict",
    "The person was added to a brand meanwhile, and removed again: the erasure is over, and not finished.",
    { hint: `to erase the person now: brandctl members erase ${email}` },
  );
}

/** Returns undefined if another command has ended this erasure. */
async function endErasure(session: Session, accounts: AccountsOperatorClient, request: ErasePersonRequest): Promise<string[] | undefined> {
  try {
    return (await accounts.erasePerson(request)).brand_ids;
  } catch (error) {
    const hasEnded = error instanceof AppError && error.kind === "not_found";
    if (hasEnded && isEmpty(await readPerson(session, request.email))) return undefined;
    throw error;
  }
}

/** Says how to go on. A person who was added to a brand meanwhile stays. */
function begunFailure(session: Session, error: unknown, email: string): unknown {
  const hint = `to continue: brandctl members erase ${email}`;
  if (session.terminal.interrupted.aborted) return new Interrupted("Stopped. The erasure has begun and is not finished.", hint);
  if (!(error instanceof AppError) || error.kind === "still_a_member") return error;
  return new CommandFailure(error.kind, `The erasure has begun and is not finished. ${error.message}`, { cause: error, hint });
}

/** @throws CommandFailure that names the brands */
function refuseMember({ email, memberships }: PersonRecords): void {
  if (memberships.length === 0) return;
  const brands = memberships.map(({ brand_id, brand_name }) => `${brand_name} (${brand_id})`).join(", ");
  throw new CommandFailure("still_a_member", `${email} is a member of ${brands}. Nothing was erased.`, {
    hint: memberships.map(({ brand_id }) => `brandctl members remove ${email} --brand ${brand_id}`).join(" && "),
  });
}

function questionOf({ email, audit_entries, keys, plans }: PersonRecords): string {
  const kept = [counted(audit_entries.length, "audit entry", "audit entries"), counted(keys.length, "key"), counted(plans.length, "plan")];
  return printable(`Permanently erase ${email} from ${kept.join(", ")}, and from sign-in?`);
}

export const exportPerson = command("export", {
  summary: "show all that is kept about a person",
  description:
    "Show all that is kept about a person, a member or not: memberships, sessions, sign-in links, accounts at sign-in providers, keys, audit entries and plans. Names no other person. If nothing is kept, it says so and exits with 1.",
  arguments: [personArgument()],
  examples: [["brandctl members export ana@brand.example --json > ana.json", "a file to hand out"]],
  run: async (session, _, email: string) => {
    const person = await readPerson(session, email);
    if (isEmpty(person)) throw nothingKept(email);
    session.print({ person }, (colors) => personText(person, colors));
  },
});

const nothingKept = (email: string, hint?: string): CommandFailure =>
  new CommandFailure("not_found", `Nothing is kept about ${email}.`, { hint });
