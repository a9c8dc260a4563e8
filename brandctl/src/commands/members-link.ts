import { Command, InvalidArgumentError } from "commander";
import { printable, shortTime } from "@brand-records/command-line";
import { CommandFailure } from "../failure.ts";
import type { Session } from "../session.ts";
import type { Shell } from "../shell.ts";
import { examples, textParser } from "./options.ts";

const MINUTES_DEFAULT = 15;
const MINUTES_MAX = 24 * 60;

export function link(shell: Shell): Command {
  return new Command("link")
    .summary("make a link that signs a member in, once")
    .description(
      "Make a link that signs a member in, once, where no sign-in provider does. Send it over a channel that only this person reads: anyone who opens it acts as the member. Standard output gets the link alone. The audit log of each of the member's brands gets an entry.",
    )
    .argument("<email>", "e-mail address of a member of some brand", textParser("The e-mail address"))
    .option("--valid-for <minutes>", `until it expires, up to ${MINUTES_MAX}`, parseMinutes, MINUTES_DEFAULT)
    .addHelpText("after", examples(["brandctl members link ana@brand.example --json | jq -r .url", "only the link, for a script"]))
    .action((email: string, { validFor }: { validFor: number }, command: Command) =>
      shell.act(command, async (session) => {
        const origin = signInOrigin(session);
        const { token, expires_at } = await (await session.signIn()).createSignInLink({ email, ttl_seconds: validFor * 60 });
        // Browsers do not send the fragment, so the token reaches no log.
        const url = `${origin}/sign-in#${token}`;
        session.print({ url, expires_at }, ({ bold, yellow }) => bold(yellow(url)));
        session.note(() => `\nIt signs ${printable(email)} in, once, until ${shortTime(expires_at)} UTC.`);
      }),
    );
}

/**
 * BASE_URL is where brandctl reaches the gateway, which may be inside a network that browsers are not in: PUBLIC_URL wins over it.
 *
 * @throws CommandFailure if the address is not known, before a link is made
 */
function signInOrigin({ endpoints, terminal }: Session): string {
  const base = endpoints.find("base_url");
  const publicUrl = terminal.env["PUBLIC_URL"];
  const address = base?.from === "--base-url" ? base.address : publicUrl || base?.address;
  if (address !== undefined) return address.replace(/\/+$/, "");
  const places = `no --base-url, no PUBLIC_URL, no BASE_URL, ${endpoints.runFileProblem()}`;
  throw new CommandFailure("unknown_address", `The address where people sign in is not known: ${places}.`, {
    hint: "Set PUBLIC_URL to the gateway's URL as browsers see it.",
  });
}

function parseMinutes(text: string): number {
  const minutes = Number(text);
  if (!/^[1-9]\d{0,3}$/.test(text) || minutes > MINUTES_MAX) {
    throw new InvalidArgumentError(`It must be a whole number of minutes from 1 to ${MINUTES_MAX}.`);
  }
  return minutes;
}
