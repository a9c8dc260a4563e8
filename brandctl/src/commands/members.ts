import { choice, option, printable, shortTime, withDefault, type Column } from "@brand-records/command-line";
import type { Member } from "@brand-records/proto/accounts/v1";
import { namedBrand } from "../brand-lookup.ts";
import { membersOf } from "../connection/read-pages.ts";
import { CommandFailure, required } from "../failure.ts";
import { command, group, type Session } from "../session.ts";
import { erase, exportPerson } from "./members-person.ts";
import { brandOption, emailArgument, numberParser } from "./options.ts";

const COLUMNS: readonly Column<Member>[] = [
  { title: "E-MAIL", cell: ({ email }) => email, paint: "cyan" },
  { title: "ROLE", cell: ({ role }) => role, paint: ({ role }) => (role === "owner" ? "green" : undefined) },
  { title: "SINCE (UTC)", cell: ({ created_at }) => shortTime(created_at) },
];

const add = command("add", {
  summary: "add a member, or change a member's role",
  description: "Add a member to a brand. If the brand has a member with this e-mail address, change the role.",
  arguments: [emailArgument("e-mail address; upper and lower case are the same")],
  options: {
    brand: brandOption("the brand to add to"),
    role: withDefault(choice("--role <role>", "owners have keys made and revoked; members do not", ["owner", "member"]), "member"),
  },
  examples: [["brandctl members add ana@brand.example --brand brd_… --role owner", "an owner"]],
  run: async (session, { brand, role }, email: string) => {
    const brandId = namedBrand(session, brand);
    const response = await session.client("accounts").addMember({ brand_id: brandId, email, role });
    const member = required(response.member, "member");
    session.printTable({ member }, COLUMNS, [member]);
  },
});

const list = command("list", {
  summary: "list a brand's members",
  description: "List a brand's members by e-mail address.",
  options: { brand: brandOption("the brand") },
  run: async (session, { brand }) => {
    const brandId = namedBrand(session, brand);
    const members = await membersOf(session.client("accounts"), brandId);
    const none = `The brand has no members yet: brandctl members add EMAIL --brand ${printable(brandId)} --role owner`;
    session.printTable({ members }, COLUMNS, members, none);
  },
});

const remove = command("remove", {
  summary: "remove a member",
  description:
    "Remove a member from a brand. The last owner cannot be removed. The person loses access with the next click. Keys made for the member keep working: see keys revoke.",
  arguments: [emailArgument("e-mail address of the member")],
  options: { brand: brandOption("the brand to remove from") },
  run: async (session, { brand }, email: string) => {
    const brand_id = namedBrand(session, brand);
    await session.client("accounts").removeMember({ brand_id, email });
    session.print({ removed: { brand_id, email } }, () => `${printable(email)} is no longer a member of ${printable(brand_id)}`);
  },
});

const MINUTES_DEFAULT = 15;
const MINUTES_MAX = 24 * 60;
const parseMinutes = numberParser(1, MINUTES_MAX, `It must be a whole number of minutes from 1 to ${MINUTES_MAX}.`);

const link = command("link", {
  summary: "make a link that signs a member in, once",
  description:
    "Make a link that signs a member in, once, where no sign-in provider does. Send it over a channel that only this person reads: anyone who opens it acts as the member. Standard output gets the link alone. The audit log of each of the member's brands gets an entry.",
  arguments: [emailArgument("e-mail address of a member of some brand")],
  options: {
    validFor: withDefault(option("--valid-for <minutes>", `until it expires, up to ${MINUTES_MAX}`, parseMinutes), MINUTES_DEFAULT),
  },
  examples: [["brandctl members link ana@brand.example --json | jq -r .url", "only the link, for a script"]],
  run: async (session, { validFor }, email: string) => {
    const origin = signInOrigin(session);
    const { token, expires_at } = await session.client("accounts.signIn").createSignInLink({ email, ttl_seconds: validFor * 60 });
    // Browsers do not send the fragment, so the token reaches no log.
    const url = `${origin}/sign-in#${token}`;
    session.print({ url, expires_at }, ({ bold, yellow }) => bold(yellow(url)));
    session.note(() => `\nIt signs ${printable(email)} in, once, until ${shortTime(expires_at)} UTC.`);
  },
});

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

const unlink = command("unlink", {
  summary: "forget a member's accounts at sign-in providers",
  description:
    "Forget which accounts at sign-in providers belong to a member, such as after the account was replaced, and end the member's sessions. The next account that signs in with the member's verified address belongs to the member. The audit log of each of the member's brands gets an entry.",
  arguments: [emailArgument("e-mail address of a member of some brand")],
  run: async (session, _, email: string) => {
    const { unlinked } = await session.client("accounts.signIn").unlinkIdentities({ email });
    session.print({ email, unlinked }, () =>
      unlinked === 0
        ? `${printable(email)} has no account at a provider: nothing was changed`
        : `${printable(email)} is unlinked from ${unlinked === 1 ? "1 account" : `${unlinked} accounts`} and signed out everywhere`,
    );
  },
});

export const membersCommand = group(
  "members",
  "add and remove a brand's owners and other members, sign them in, and show and erase what is kept about them",
  [add, list, link, unlink, remove, exportPerson, erase],
);
