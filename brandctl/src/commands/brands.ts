import { choice, type Column, flag, mandatory, shortTime } from "@brand-records/command-line";
import { newId } from "@brand-records/ids";
import type { Brand, SetBrandTierResponse, SetBrandVerifiedResponse } from "@brand-records/proto/accounts/v1";
import { Argument } from "commander";
import { allBrands, entryTo } from "../connection/cells.ts";
import { required, restated } from "../failure.ts";
import { command, group, type Session } from "../session.ts";
import { deleteBrand } from "./brands-delete.ts";
import { listMoves, moveBrand } from "./brands-move.ts";
import { BRAND_HELP, idArgument, idOption, textOption } from "./options.ts";

const TIERS = ["starter", "plus", "pro", "enterprise"] as const;
const TIER_HELP = "starter has no API keys; plus, pro and enterprise allow 60, 120 and 240 requests a minute";

const create = command("create", {
  summary: "make a brand",
  description: "Make a brand. It has no members yet: add an owner next, for whom keys can then be made.",
  options: {
    name: mandatory(textOption("--name <name>", "name of the brand, up to 200 characters")),
    tier: mandatory(choice("--tier <tier>", TIER_HELP, TIERS)),
    verified: flag("--verified", "the brand's identity is verified; an unverified brand gets no keys"),
    id: idOption(
      "--id <id>",
      "brand",
      "an id the brand already has, such as brd_01h455vb4pex5vsknk084sn02q; safe to repeat (default: a new id)",
    ),
    cell: textOption("--cell <name>", "the cell that is to have its records (default: the one without a name)"),
  },
  examples: [
    ['brandctl brands create --name "Ulap at Araw" --tier plus --verified', "a brand that may have keys"],
    ["brandctl brands create --name Test --tier pro --json | jq -r .brand.id", "only the id, for a script"],
  ],
  // The id is made here: a call whose answer is lost is made again, and finds the same brand.
  run: async (session, { name, tier, verified = false, id = newId("brd"), cell }) => {
    const letIn = entryTo(session, cell);
    const made = await session.client("accounts").createBrand({ name, tier, verified, id, cell });
    const isInCell = (made.brand?.cell ?? undefined) === cell;
    if (isInCell)
      await letIn(id).catch((error: Error) => {
        throw restated(error, error.message, `The brand ${id} exists: the same command with --id ${id} lets it in.`);
      });
    const brand = printBrand(session, made);
    if (brand.tier !== tier || brand.verified !== verified || !isInCell) {
      session.note(({ yellow }) => yellow("The brand exists already and was left unchanged: see brands set-tier and brands verify."));
    }
    session.note(({ dim }) => dim(`Next: brandctl members add EMAIL --brand ${brand.id} --role owner`));
  },
});

const list = command("list", {
  summary: "list all brands",
  description: "List all brands by id, also those that are being deleted.",
  examples: [["brandctl brands list --json | jq '.brands[] | select(.verified | not)'", "those not verified yet"]],
  run: async (session) => {
    const { items: brands } = await allBrands(session.client("accounts"));
    const deletion = brands.some(({ deletion_started_at: startedAt }) => startedAt != null) ? [DELETION_COLUMN] : [];
    const cell = brands.some((brand) => brand.cell != null) ? [CELL_COLUMN] : [];
    session.printTable({ brands }, [...COLUMNS, ...cell, ...deletion], brands, "There are no brands yet: brandctl brands create");
  },
});

const setTier = command("set-tier", {
  summary: "change a brand's tier",
  description: "Change a brand's tier. It applies to each of the brand's keys from the key's next request on.",
  arguments: [idArgument("brand", BRAND_HELP), new Argument("<tier>", TIER_HELP).choices(TIERS)],
  examples: [["brandctl brands set-tier brd_01h455vb4pex5vsknk084sn02q pro", "120 requests a minute"]],
  run: async (session, _, brand_id: string, tier: string) =>
    printChangedBrand(session, await session.client("accounts").setBrandTier({ brand_id, tier })),
});

const verify = command("verify", {
  summary: "mark a brand's identity as verified",
  description: "Mark a brand's identity as verified. With --off, take that back: the brand's keys are then refused.",
  arguments: [idArgument("brand", BRAND_HELP)],
  options: { off: flag("--off", "take the verification back") },
  examples: [["brandctl brands verify brd_01h455vb4pex5vsknk084sn02q", "its owners may have keys made"]],
  run: async (session, { off }, brand_id: string) =>
    printChangedBrand(session, await session.client("accounts").setBrandVerified({ brand_id, verified: off !== true })),
});

function printChangedBrand(session: Session, response: SetBrandTierResponse | SetBrandVerifiedResponse): void {
  printBrand(session, response);
  session.noteAcceptedUntil(response.may_be_accepted_until);
}

function printBrand(session: Session, response: { readonly brand?: Brand | null | undefined }): Brand {
  const brand = required(response.brand, "brand");
  session.printTable({ ...response, brand }, COLUMNS, [brand]);
  return brand;
}

const COLUMNS: readonly Column<Brand>[] = [
  { title: "ID", cell: ({ id }) => id, paint: "cyan" },
  { title: "NAME", cell: ({ name }) => name },
  { title: "TIER", cell: ({ tier }) => tier },
  { title: "VERIFIED", cell: ({ verified }) => (verified ? "yes" : "no"), paint: ({ verified }) => (verified ? "green" : "yellow") },
  { title: "CREATED (UTC)", cell: ({ created_at }) => shortTime(created_at) },
];

const CELL_COLUMN: Column<Brand> = { title: "CELL", cell: ({ cell }) => cell ?? "" };
const DELETION_COLUMN: Column<Brand> = {
  title: "DELETION",
  cell: ({ deletion_started_at: startedAt }) => (startedAt == null ? "" : `since ${shortTime(startedAt)}: continue with brands delete`),
  paint: "yellow",
};

export const brandsCommand = group("brands", "create brands, change their tier and verification, move and delete them", [
  create,
  list,
  setTier,
  verify,
  moveBrand,
  listMoves,
  deleteBrand,
]);
