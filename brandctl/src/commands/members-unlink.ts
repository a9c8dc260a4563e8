import { Command } from "commander";
import { printable } from "@brand-records/command-line";
import type { Shell } from "../shell.ts";
import { textParser } from "./options.ts";

export function unlink(shell: Shell): Command {
  return new Command("unlink")
    .summary("forget a member's accounts at sign-in providers")
    .description(
      "Forget which accounts at sign-in providers belong to a member, such as after the account was replaced, and end the member's sessions. The next account that signs in with the member's verified address belongs to the member. The audit log of each of the member's brands gets an entry.",
    )
    .argument("<email>", "e-mail address of a member of some brand", textParser("The e-mail address"))
    .action((email: string, _options: object, command: Command) =>
      shell.act(command, async (session) => {
        const { unlinked } = await (await session.signIn()).unlinkIdentities({ email });
        session.print({ email, unlinked }, () =>
          unlinked === 0
            ? `${printable(email)} has no account at a provider: nothing was changed`
            : `${printable(email)} is unlinked from ${unlinked === 1 ? "1 account" : `${unlinked} accounts`} and signed out everywhere`,
        );
      }),
    );
}
