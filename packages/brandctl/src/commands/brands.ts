import type { Brand } from "@brand-records/proto/accounts/v1";
import { Argument, Command, Option } from "commander";
import { shortTime, table, type Column } from "../output/table.ts";
import type { Colors } from "../session.ts";
import type { Shell } from "../shell.ts";
import { examples } from "./examples.ts";

const TIERS = ["starter", "plus", "pro", "enterprise"] as const;
const TIER_HELP = "starter has no API keys; plus, pro and enterprise allow 60, 120 and 240 requests a minute";
const PAGE_SIZE = 1_000;

export function brandsCommand(shell: Shell): Command {
  const brands = new Command("brands").description("make brands, and change what their keys may do");
  brands.addCommand(create(shell));
  brands.addCommand(list(shell));
  brands.addCommand(setTier(shell));
  brands.addCommand(verify(shell));
  return brands;
}

function create(shell: Shell): Command {
  return new Command("create")
    .summary("make a brand")
    .description("Make a brand. It has no members yet: add an owner next, who can then be given keys.")
    .requiredOption("--name <name>", "what the brand is called, up to 200 characters")
    .addOption(new Option("--tier <tier>", TIER_HELP).choices(TIERS).makeOptionMandatory())
    .option("--verified", "the brand is who it says it is; without, it gets no keys")
    .option("--id <id>", "the id it has elsewhere, such as brd_01h455vb4pex5vsknk084sn02q; one is made otherwise. Safe to repeat.")
    .addHelpText(
      "after",
      examples(
        ['brandctl brands create --name "Ulap at Araw" --tier plus --verified', "a brand that may have keys"],
        ["brandctl brands create --name Test --tier pro --json | jq -r .brand.id", "only the id, for a script"],
      ),
    )
    .action((options: { name: string; tier: string; verified?: boolean; id?: string }, command: Command) =>
      shell.act(command, async (session) => {
        const { name, tier, verified = false, id } = options;
        const { brand } = await (await session.accounts()).createBrand({ name, tier, verified, id });
        const made = answered(brand);
        session.print({ brand: made }, (colors) => brandText(made, colors));
        if (made.tier !== tier || made.verified !== verified) {
          session.note((colors) => colors.yellow("It was there already, and was left as it is: see brands set-tier and brands verify."));
        }
        session.note((colors) => colors.dim(`Next: brandctl members add ${made.id} EMAIL --role owner`));
      }),
    );
}

function list(shell: Shell): Command {
  return new Command("list")
    .summary("list all brands")
    .description("List all brands by id.")
    .addHelpText("after", examples(["brandctl brands list --json | jq '.brands[] | select(.verified | not)'", "those not verified yet"]))
    .action((_options: object, command: Command) =>
      shell.act(command, async (session) => {
        const accounts = await session.accounts();
        const brands: Brand[] = [];
        let after: string | null | undefined;
        do {
          const page = await accounts.listBrands({ page_size: PAGE_SIZE, after_id: after });
          brands.push(...page.brands);
          after = page.next_after_id;
        } while (after != null);
        session.print({ brands }, (colors) =>
          table(brandColumns(colors), brands, colors, "There are no brands yet: brandctl brands create"),
        );
      }),
    );
}

function setTier(shell: Shell): Command {
  return new Command("set-tier")
    .summary("change a brand's plan")
    .description("Change a brand's plan. Holds for every key of the brand from its next request on; no key must be made again.")
    .argument("<brand>", "id of the brand")
    .addArgument(new Argument("<tier>", TIER_HELP).choices(TIERS))
    .addHelpText("after", examples(["brandctl brands set-tier brd_01h455vb4pex5vsknk084sn02q pro", "120 requests a minute"]))
    .action((brandId: string, tier: string, _options: object, command: Command) =>
      shell.act(command, async (session) => {
        const { brand } = await session.untilEffective((await session.accounts()).setBrandTier({ brand_id: brandId, tier }));
        const changed = answered(brand);
        session.print({ brand: changed }, (colors) => brandText(changed, colors));
      }),
    );
}

function verify(shell: Shell): Command {
  return new Command("verify")
    .summary("record that a brand is who it says it is")
    .description(
      "Record that a brand is who it says it is, or, with --off, that it no longer counts as verified: its keys are then refused.",
    )
    .argument("<brand>", "id of the brand")
    .option("--off", "take the verification back")
    .addHelpText("after", examples(["brandctl brands verify brd_01h455vb4pex5vsknk084sn02q", "its owners may have keys made"]))
    .action((brandId: string, { off }: { off?: boolean }, command: Command) =>
      shell.act(command, async (session) => {
        const accounts = await session.accounts();
        const { brand } = await session.untilEffective(accounts.setBrandVerified({ brand_id: brandId, verified: off !== true }));
        const changed = answered(brand);
        session.print({ brand: changed }, (colors) => brandText(changed, colors));
      }),
    );
}

function answered(brand: Brand | null | undefined): Brand {
  if (brand == null) throw new Error("accounts answered without a brand");
  return brand;
}

const brandText = (brand: Brand, colors: Colors): string => table(brandColumns(colors), [brand], colors, "");

function brandColumns(colors: Colors): Column<Brand>[] {
  return [
    { title: "ID", cell: ({ id }) => id, paint: colors.cyan },
    { title: "NAME", cell: ({ name }) => name },
    { title: "TIER", cell: ({ tier }) => tier },
    {
      title: "VERIFIED",
      cell: ({ verified }) => (verified ? "yes" : "no"),
      paint: (text, { verified }) => (verified ? colors.green(text) : colors.yellow(text)),
    },
    { title: "CREATED (UTC)", cell: ({ created_at }) => shortTime(created_at) },
  ];
}
