import { Command } from "commander";
import { CommandFailure } from "../failure.ts";
import { personText } from "../output/person-text.ts";
import { isEmpty, readPerson } from "../people/read-person.ts";
import type { Shell } from "../shell.ts";
import { examples, parseEmail } from "./options.ts";

export function exportPerson(shell: Shell): Command {
  return new Command("export")
    .summary("show all that is kept about a person")
    .description(
      "Show all that is kept about a person, a member or not: memberships, sessions, sign-in links, accounts at sign-in providers, keys, audit entries and plans. Names no other person. If nothing is kept, it says so and exits with 1.",
    )
    .argument("<email>", "e-mail address of the person", parseEmail)
    .addHelpText("after", examples(["brandctl members export ana@brand.example --json > ana.json", "a file to hand out"]))
    .action((email: string, _options: object, command: Command) =>
      shell.act(command, async (session) => {
        const person = await readPerson(session, email);
        if (isEmpty(person)) throw nothingKept(email);
        session.print({ person }, (colors) => personText(person, colors));
      }),
    );
}

export const nothingKept = (email: string, hint?: string): CommandFailure =>
  new CommandFailure("not_found", `Nothing is kept about ${email}.`, { hint });
