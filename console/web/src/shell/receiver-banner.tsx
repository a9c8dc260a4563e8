import type { Receiver } from "@brand-records/console-contract";
import { Anchor } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { query } from "../api/queries.ts";
import { countOf } from "../parts/counts.ts";
import { Notice } from "../parts/states.tsx";
import { useBrand } from "./brand.tsx";

const POLL_MS = 30_000;

/** On every page while a receiver is disabled: what its integration misses. A failure shows nothing: the page itself has its own. */
export function ReceiverBanner() {
  const { ofBrand } = useBrand();
  const { data } = useQuery({ ...query("receivers.list", ofBrand), refetchInterval: POLL_MS });
  const disabled = data?.receivers.filter(({ enabled }) => !enabled) ?? [];
  const [first, ...others] = disabled;
  if (first === undefined) return null;
  return (
    <Notice tone="warning">
      <strong>{others.length === 0 ? `The receiver “${first.label}” is disabled.` : `${disabled.length} receivers are disabled.`}</strong>{" "}
      {heldText(disabled)}{" "}
      {others.length === 0 ? (
        <Anchor
          component={Link}
          to="/developers/receivers/$receiverId"
          params={{ receiverId: first.id } as never}
          inherit
          underline="always"
        >
          See the receiver
        </Anchor>
      ) : (
        <Anchor component={Link} to="/developers/receivers" inherit underline="always">
          See the receivers
        </Anchor>
      )}
    </Notice>
  );
}

function heldText(disabled: readonly Receiver[]): string {
  const held = disabled.reduce((sum, { waiting }) => sum + waiting, 0);
  if (held === 0) return `New deliveries to ${disabled.length === 1 ? "it" : "them"} are held.`;
  return `${countOf(held, "delivery is", "deliveries are")} held.`;
}
