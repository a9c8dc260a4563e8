import { randomUUID } from "node:crypto";
import { BrandRecordsError, type BrandRecords, type PlanInput, type RateLimit } from "@brand-records/client";
import { command, type Session } from "../session.ts";
import { openClient, readAccess } from "../settings.ts";

const DESCRIPTION = `Show whose key BRAND_RECORDS_KEY is, what it may do, and how much of the brand's limit is left.

The service has no list of a key's permissions. The command reads a page, and sends a plan without any content: a key that may prepare plans is refused for the content, another for the permission. Nothing is made. Both requests count towards the limit.`;

export const whoamiCommand = command("whoami", {
  summary: "show the key's brand, permissions and limit",
  description: DESCRIPTION,
  run: whoami,
});

async function whoami(session: Session): Promise<void> {
  const { url, environment } = readAccess(session.terminal.env);
  const client = openClient(session);
  const { interrupted: signal } = session.terminal;
  const { meta } = await client.campaigns({}, { limit: 1, signal }).page();
  const permissions = ["records:read", ...((await mayPrepare(client, signal)) ? ["campaigns:prepare"] : [])];
  const limit = meta.rateLimit;
  const document = {
    url,
    brand_id: meta.brandId,
    environment,
    permissions,
    limit: limit === undefined ? null : limitDocument(limit),
  };
  session.printFacts(document, [
    ["Service", url],
    ["Brand", meta.brandId ?? "unknown", "cyan"],
    ["Key", environment],
    ["Permissions", permissions.join(", ")],
    ["Limit", limit === undefined ? "unknown" : limitText(limit)],
  ]);
}

const withoutContent = (): PlanInput => ({ request_id: randomUUID() }) as unknown as PlanInput;

/** The service checks the permission before the content. */
async function mayPrepare(client: BrandRecords, signal: AbortSignal): Promise<boolean> {
  try {
    await client.prepareCampaignPlan(withoutContent(), { signal });
    return true;
  } catch (error) {
    if (error instanceof BrandRecordsError && error.code === "permission_required") return false;
    if (error instanceof BrandRecordsError && error.code === "invalid_request") return true;
    throw error;
  }
}

/** As of the first request; the second counts too. */
const limitDocument = ({ limit, windowSeconds, remaining, resetSeconds }: RateLimit): object => ({
  requests: limit,
  window_seconds: windowSeconds,
  remaining: Math.max(0, remaining - 1),
  reset_seconds: resetSeconds,
});

const limitText = ({ limit, windowSeconds, remaining }: RateLimit): string =>
  `${limit} requests in ${windowSeconds} s, of all the brand's keys together; ${Math.max(0, remaining - 1)} left`;
