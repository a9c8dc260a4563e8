import { formatInstant, type RecordOf } from "@brand-records/resources";
import { Random } from "../random.ts";
import { Shuffle } from "../shuffle.ts";
import { DAY } from "../timeline.ts";
import { slug } from "../vocabulary.ts";
import type { PlannedLink } from "../plan/link-plan.ts";
import type { BrandHistory } from "../brand-history.ts";

const CODE_ALPHABET = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ";
const CODE_LENGTH = 6;

/** A link expires this long after its campaign's end. */
const EXPIRES_AFTER = 7 * DAY;

export function* linkRecords(history: BrandHistory): Generator<RecordOf<"links">> {
  const { context, links, ledger, creators } = history;
  const { shop, products } = context.catalog;
  const stream = context.stream("link record");
  const codes = new Shuffle(CODE_ALPHABET.length ** CODE_LENGTH, context.stream("link code"));
  for (const link of links.all) {
    const random = new Random(stream, link.index);
    const orders = ledger.linkOrders[link.index] ?? 0;
    const { endsAt } = link.campaign;
    const expiresAt = endsAt === null ? null : endsAt + EXPIRES_AFTER;
    const code = codeOf(codes.rankOf(link.index));
    yield {
      id: link.id,
      created_at: formatInstant(link.createdAt),
      updated_at: formatInstant(Math.max(link.disabled ? link.worksUntil : link.createdAt, ledger.linkLastAt[link.index] ?? 0)),
      campaign_id: link.campaign.id,
      creator_id: creators.ids[link.creator] ?? "",
      status: statusOf(link, expiresAt, context.now),
      code,
      url: `https://go.${shop}/${code}`,
      destination_url: `https://${shop}/products/${slug(random.pick(products))}?ref=${code}`,
      // One click in 20 to 90 becomes an order; many links have clicks and no orders.
      clicks: Math.floor((orders + random.unit()) * random.between(20, 90)),
      conversions: ledger.linkConversions[link.index] ?? 0,
      expires_at: expiresAt === null ? null : formatInstant(expiresAt),
    };
  }
}

function statusOf({ disabled, campaign }: PlannedLink, expiresAt: number | null, now: number): RecordOf<"links">["status"] {
  if (disabled) return "disabled";
  if (expiresAt !== null && expiresAt <= now) return "expired";
  return campaign.phase === "paused" ? "paused" : "active";
}

function codeOf(number: number): string {
  let code = "";
  for (let rest = number, i = 0; i < CODE_LENGTH; i += 1, rest = Math.floor(rest / CODE_ALPHABET.length)) {
    code += CODE_ALPHABET[rest % CODE_ALPHABET.length];
  }
  return code;
}
