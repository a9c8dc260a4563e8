import type { Member } from "@brand-records/proto/accounts/v1";
import { Command, Option } from "commander";
import { printable } from "../output/printable.ts";
import { shortTime, table, type Column } from "../output/table.ts";
import type { Colors } from "../session.ts";
import type { Shell } from "../shell.ts";
import { examples } from "./examples.ts";

const BRAND_HELP = "id of the brand";

export function membersCommand(shell: Shell): Command {
  const members = new Command("members").description("who belongs to a brand, and who of them owns it");
  members.addCommand(add(shell));
  members.addCommand(list(shell));
  members.addCommand(remove(shell));
  return members;
}

function add(shell: Shell): Command {
  return new Command("add")
    .summary("add a member, or change a member's role")
    .description("Add a member to a brand, or change the role of the one with this e-mail address.")
    .argument("<brand>", BRAND_HELP)
    .argument("<email>", "e-mail address; upper and lower case are the same")
    .addOption(
      new Option("--role <role>", "owners have keys made and revoked; members do not").choices(["owner", "member"]).default("member"),
    )
    .addHelpText("after", examples(["brandctl members add brd_01h455vb4pex5vsknk084sn02q ana@brand.example --role owner", "an owner"]))
    .action((brandId: string, email: string, { role }: { role: string }, command: Command) =>
      shell.act(command, async (session) => {
        const { member } = await (await session.accounts()).addMember({ brand_id: brandId, email, role });
        if (member == null) throw new Error("accounts answered without a member");
        session.print({ member }, (colors) => table(memberColumns(colors), [member], colors, ""));
      }),
    );
}

function list(shell: Shell): Command {
  return new Command("list")
    .summary("list a brand's members")
    .description("List a brand's members by e-mail address.")
    .argument("<brand>", BRAND_HELP)
    .action((brandId: string, _options: object, command: Command) =>
      shell.act(command, async (session) => {
        const { members } = await (await session.accounts()).listMembers({ brand_id: brandId });
        const none = `The brand has no members yet: brandctl members add ${printable(brandId)} EMAIL --role owner`;
        session.print({ members }, (colors) => table(memberColumns(colors), members, colors, none));
      }),
    );
}

function remove(shell: Shell): Command {
  return new Command("remove")
    .summary("remove a member")
    .description("Remove a member from a brand. The last owner cannot be removed. Keys the member made go on working: see keys revoke.")
    .argument("<brand>", BRAND_HELP)
    .argument("<email>", "e-mail address of the member")
    .action((brandId: string, email: string, _options: object, command: Command) =>
      shell.act(command, async (session) => {
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
