import type { Receiver } from "@brand-records/console-contract";
import { Group } from "@mantine/core";
import { linkOptions, useLocation } from "@tanstack/react-router";
import { POLL_MS, useRead } from "../api/queries.ts";
import { countOf } from "../parts/formats.ts";
import { AnchorLink } from "../parts/links.tsx";
import { Notice } from "../parts/states.tsx";

/** Pages that list the disabled receivers. */
const LISTED_AT: ReadonlySet<string> = new Set(["/developers", "/developers/receivers"]);

/** Says on every other page, while a receiver is disabled, what its integration misses. A failure shows nothing: the page itself has its own. */
export function ReceiverBanner() {
  const { pathname } = useLocation();
  const isListed = LISTED_AT.has(pathname);
  const { data } = useRead("receivers.list", {}, { refetchInterval: POLL_MS, enabled: !isListed });
  const disabled = data?.receivers.filter(({ enabled }) => !enabled) ?? [];
  const [first, ...others] = disabled;
  if (first === undefined || isListed) return null;
  // The receivers' own pages say it, too.
  if (others.length === 0 && pathname.startsWith(`/developers/receivers/${first.id}`)) return null;
  const leadsTo =
    others.length === 0
      ? linkOptions({ to: "/developers/receivers/$receiverId", params: { receiverId: first.id } })
      : linkOptions({ to: "/developers/receivers" });
  return (
    <Notice tone="waiting" isWide>
      <Group justify="space-between" gap="0 var(--space-16)">
        <span>
          <strong>
            {others.length === 0 ? `The receiver “${first.label}” is disabled.` : `${disabled.length} receivers are disabled.`}
          </strong>{" "}
          {heldText(disabled)}
        </span>
        <AnchorLink {...leadsTo} inherit underline="always">
          {others.length === 0 ? "See the receiver" : "See the receivers"}
        </AnchorLink>
      </Group>
    </Notice>
  );
}

function heldText(disabled: readonly Receiver[]): string {
  const held = disabled.reduce((sum, { waiting }) => sum + waiting, 0);
  if (held === 0) return `New deliveries to ${disabled.length === 1 ? "it" : "them"} are held.`;
  return `${countOf(held, "delivery is", "deliveries are")} held.`;
}
