import { Command } from "commander";
import { CommandFailure } from "../failure.ts";
import { counted } from "../output/format.ts";
import { printable } from "../output/printable.ts";
import { isEmpty, readPerson, type PersonRecords } from "../people/read-person.ts";
import type { Session } from "../session.ts";
import type { Shell } from "../shell.ts";
import { nothingKept } from "./members-export.ts";
import { examples, textParser } from "./options.ts";

export function erase(shell: Shell): Command {
  return new Command("erase")
    .summary("replace a person who has left by a pseudonym")
    .description(
      "Erase a person who is a member of no brand: delete the sessions, sign-in links and accounts at sign-in providers, and put one pseudonym in place of the e-mail address in audit logs, keys and plans. The IP addresses of the person's audit entries are removed. It asks first. If it is interrupted, run it again: it finishes. The audit log of each brand concerned gets an entry.",
    )
    .argument("<email>", "e-mail address of the person", textParser("The e-mail address"))
    .option("-y, --yes", "erase without asking")
    .addHelpText(
      "after",
      examples(["brandctl members erase ana@brand.example", "after members export, and members remove from each brand"]),
    )
    .action((email: string, { yes }: { yes?: boolean }, command: Command) =>
      shell.act(command, async (session) => {
        const person = await readPerson(session, email);
        if (isEmpty(person)) throw nothingKept(email);
        refuseMember(person);
        if (yes !== true) await session.confirm(questionOf(person), "Nothing was erased.");
        const { pseudonym, brandIds } = await erasePerson(session, person.email);
        session.print({ erased: { email: person.email, pseudonym, brand_ids: brandIds } }, ({ bold }) =>
          [`${printable(email)} is erased.`, brandIds.length === 0 ? "" : ` In its place is ${bold(pseudonym)}.`].join(""),
        );
      }),
    );
}

/** The pseudonym first, accounts last: until then a repetition goes on with the same one. */
async function erasePerson(session: Session, email: string): Promise<{ pseudonym: string; brandIds: string[] }> {
  const [accounts, plans] = [await session.accountsOperator(), await session.plansOperator()];
  const { pseudonym } = await accounts.beginErasure({ email });
  const { brand_ids } = await plans.erasePerson({ email, pseudonym });
  const erased = await accounts.erasePerson({ email, brand_ids });
  return { pseudonym, brandIds: erased.brand_ids };
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
