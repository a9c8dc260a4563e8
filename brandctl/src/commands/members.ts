import type { Member } from "@brand-records/proto/accounts/v1";
import { Command, Option } from "commander";
import { type Column, printable, shortTime, table } from "@brand-records/command-line";
import { namedBrand } from "../brand-lookup.ts";
import { membersOf } from "../connection/keys-and-members.ts";
import { required } from "../failure.ts";
import type { Shell } from "../shell.ts";
import type { Colors } from "../terminal.ts";
import { erase } from "./members-erase.ts";
import { exportPerson } from "./members-export.ts";
import { link } from "./members-link.ts";
import { unlink } from "./members-unlink.ts";
import { brandOption, examples, textParser } from "./options.ts";

export function membersCommand(shell: Shell): Command {
  const members = new Command("members").description(
    "add and remove a brand's owners and other members, sign them in, and show and erase what is kept about them",
  );
  for (const command of [add, list, link, unlink, remove, exportPerson, erase]) members.addCommand(command(shell));
  return members;
}

function add(shell: Shell): Command {
  return new Command("add")
    .summary("add a member, or change a member's role")
    .description("Add a member to a brand. If the brand has a member with this e-mail address, change the role.")
    .argument("<email>", "e-mail address; upper and lower case are the same", textParser("The e-mail address"))
    .addOption(brandOption("the brand to add to"))
    .addOption(
      new Option("--role <role>", "owners have keys made and revoked; members do not").choices(["owner", "member"]).default("member"),
    )
    .addHelpText("after", examples(["brandctl members add ana@brand.example --brand brd_… --role owner", "an owner"]))
    .action((email: string, { brand, role }: { brand?: string; role: string }, command: Command) =>
      shell.act(command, async (session) => {
        const brandId = namedBrand(session, brand);
        const response = await (await session.accounts()).addMember({ brand_id: brandId, email, role });
        const member = required(response.member, "member");
        session.print({ member }, (colors) => table(memberColumns(colors), [member], colors, ""));
      }),
    );
}

function list(shell: Shell): Command {
  return new Command("list")
    .summary("list a brand's members")
    .description("List a brand's members by e-mail address.")
    .addOption(brandOption("the brand"))
    .action(({ brand }: { brand?: string }, command: Command) =>
      shell.act(command, async (session) => {
        const brandId = namedBrand(session, brand);
        const members = await membersOf(await session.accounts(), brandId);
        const none = `The brand has no members yet: brandctl members add EMAIL --brand ${printable(brandId)} --role owner`;
        session.print({ members }, (colors) => table(memberColumns(colors), members, colors, none));
      }),
    );
}

function remove(shell: Shell): Command {
  return new Command("remove")
    .summary("remove a member")
    .description(
      "Remove a member from a brand. The last owner cannot be removed. The person loses access with the next click. Keys made for the member keep working: see keys revoke.",
    )
    .argument("<email>", "e-mail address of the member", textParser("The e-mail address"))
    .addOption(brandOption("the brand to remove from"))
    .action((email: string, { brand }: { brand?: string }, command: Command) =>
      shell.act(command, async (session) => {
        const brandId = namedBrand(session, brand);
        await (await session.accounts()).removeMember({ brand_id: brandId, email });
        session.print(
          { removed: { brand_id: brandId, email } },
          () => `${printable(email)} is no longer a member of ${printable(brandId)}`,
        );
      }),
    );
}

function memberColumns(colors: Colors): Column<Member>[] {
  return [
    { title: "E-MAIL", cell: ({ email }) => email, paint: colors.cyan },
    { title: "ROLE", cell: ({ role }) => role, paint: (text, { role }) => (role === "owner" ? colors.green(text) : text) },
    { title: "SINCE (UTC)", cell: ({ created_at }) => shortTime(created_at) },
  ];
}
