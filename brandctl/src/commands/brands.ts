import type { Brand, SetBrandTierResponse, SetBrandVerifiedResponse } from "@brand-records/proto/accounts/v1";
import { newId } from "@brand-records/ids";
import { Argument, Command, Option } from "commander";
import { type Column, shortTime, table } from "@brand-records/command-line";
import { readPages } from "../connection/read-pages.ts";
import { required } from "../failure.ts";
import type { Session } from "../session.ts";
import type { Shell } from "../shell.ts";
import type { Colors } from "../terminal.ts";
import { deleteBrand } from "./brands-delete.ts";
import { examples, idArgument, idParser, textParser } from "./options.ts";

const TIERS = ["starter", "plus", "pro", "enterprise"] as const;
const TIER_HELP = "starter has no API keys; plus, pro and enterprise allow 60, 120 and 240 requests a minute";
const BRAND_HELP = "id of the brand (brd_…), see brands list";
const PAGE_SIZE = 1_000;

export function brandsCommand(shell: Shell): Command {
  const brands = new Command("brands").description("create brands, change their tier and verification, and delete them");
  for (const command of [create, list, setTier, verify]) brands.addCommand(command(shell));
  brands.addCommand(deleteBrand(shell, BRAND_HELP));
  return brands;
}

function create(shell: Shell): Command {
  return new Command("create")
    .summary("make a brand")
    .description("Make a brand. It has no members yet: add an owner next, for whom keys can then be made.")
    .requiredOption("--name <name>", "name of the brand, up to 200 characters", textParser("--name"))
    .addOption(new Option("--tier <tier>", TIER_HELP).choices(TIERS).makeOptionMandatory())
    .option("--verified", "the brand's identity is verified; an unverified brand gets no keys")
    .option(
      "--id <id>",
      "an id the brand already has, such as brd_01h455vb4pex5vsknk084sn02q; safe to repeat (default: a new id)",
      idParser("--id", "brand"),
    )
    .addHelpText(
      "after",
      examples(
        ['brandctl brands create --name "Ulap at Araw" --tier plus --verified', "a brand that may have keys"],
        ["brandctl brands create --name Test --tier pro --json | jq -r .brand.id", "only the id, for a script"],
      ),
    )
    .action((options: { name: string; tier: string; verified?: boolean; id?: string }, command: Command) =>
      shell.act(command, async (session) => {
        // Made here, so that the audit log names the brand before it exists.
        const { name, tier, verified = false, id = newId("brd") } = options;
        const brand = printBrand(session, await (await session.accounts()).createBrand({ name, tier, verified, id }));
        if (brand.tier !== tier || brand.verified !== verified) {
          session.note((colors) =>
            colors.yellow("The brand exists already and was left unchanged: see brands set-tier and brands verify."),
          );
        }
        session.note((colors) => colors.dim(`Next: brandctl members add EMAIL --brand ${brand.id} --role owner`));
      }),
    );
}

function list(shell: Shell): Command {
  return new Command("list")
    .summary("list all brands")
    .description("List all brands by id, also those that are being deleted.")
    .addHelpText("after", examples(["brandctl brands list --json | jq '.brands[] | select(.verified | not)'", "those not verified yet"]))
    .action((_options: object, command: Command) =>
      shell.act(command, async (session) => {
        const accounts = await session.accounts();
        const { items: brands } = await readPages(Infinity, PAGE_SIZE, async (page) => {
          const { brands: items, next_after_id: next } = await accounts.listBrands(page);
          return { items, next };
        });
        session.print({ brands }, (colors) =>
          table(brandColumns(colors, brands), brands, colors, "There are no brands yet: brandctl brands create"),
        );
      }),
    );
}

function setTier(shell: Shell): Command {
  return new Command("set-tier")
    .summary("change a brand's tier")
    .description("Change a brand's tier. It applies to each of the brand's keys from the key's next request on.")
    .addArgument(idArgument("brand", BRAND_HELP))
    .addArgument(new Argument("<tier>", TIER_HELP).choices(TIERS))
    .addHelpText("after", examples(["brandctl brands set-tier brd_01h455vb4pex5vsknk084sn02q pro", "120 requests a minute"]))
    .action((brandId: string, tier: string, _options: object, command: Command) =>
      shell.act(command, async (session) => {
        const accounts = await session.accounts();
        printChangedBrand(session, await accounts.setBrandTier({ brand_id: brandId, tier }));
      }),
    );
}

function verify(shell: Shell): Command {
  return new Command("verify")
    .summary("mark a brand's identity as verified")
    .description("Mark a brand's identity as verified. With --off, take that back: the brand's keys are then refused.")
    .addArgument(idArgument("brand", BRAND_HELP))
    .option("--off", "take the verification back")
    .addHelpText("after", examples(["brandctl brands verify brd_01h455vb4pex5vsknk084sn02q", "its owners may have keys made"]))
    .action((brandId: string, { off }: { off?: boolean }, command: Command) =>
      shell.act(command, async (session) => {
        const accounts = await session.accounts();
        printChangedBrand(session, await accounts.setBrandVerified({ brand_id: brandId, verified: off !== true }));
      }),
    );
}

function printChangedBrand(session: Session, response: SetBrandTierResponse | SetBrandVerifiedResponse): void {
  printBrand(session, response);
  session.noteAcceptedUntil(response.may_be_accepted_until);
}

function printBrand(session: Session, response: { readonly brand?: Brand | null | undefined }): Brand {
  const brand = required(response.brand, "brand");
  session.print({ ...response, brand }, (colors) => table(brandColumns(colors), [brand], colors, ""));
  return brand;
}

/** @param listed adds a column if one of these is being deleted */
function brandColumns(colors: Colors, listed: readonly Brand[] = []): Column<Brand>[] {
  const deletion: Column<Brand> = {
    title: "DELETION",
    cell: ({ deletion_started_at: startedAt }) => (startedAt == null ? "" : `since ${shortTime(startedAt)}: continue with brands delete`),
    paint: colors.yellow,
  };
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
    ...(listed.some(({ deletion_started_at: startedAt }) => startedAt != null) ? [deletion] : []),
  ];
}
