import { useQuery } from "@tanstack/react-query";
import { useLocation } from "@tanstack/react-router";
import { query } from "../api/queries.ts";
import { AnchorLink } from "../parts/links.tsx";
import { Notice } from "../parts/states.tsx";
import { useBrand } from "./brand.tsx";

const POLL_MS = 30_000;
/** Pages that list the disabled receivers. */
const LISTED_AT: ReadonlySet<string> = new Set(["/developers", "/developers/receivers"]);

/** On every other page while a receiver is disabled: what its integration misses. A failure shows nothing: the page itself has its own. */
export function ReceiverBanner() {
  const { ofBrand } = useBrand();
  const { data } = useQuery({ ...query("receivers.list", ofBrand), refetchInterval: POLL_MS });
  const disabled = data?.receivers.filter(({ enabled }) => !enabled) ?? [];
  const { pathname } = useLocation();
  if (disabled.length === 0 || LISTED_AT.has(pathname)) return null;
  const held = disabled.reduce((sum, { waiting }) => sum + waiting, 0);
  return (
    <Notice tone="warning">
      <strong>
        {disabled.length === 1 ? `The receiver “${disabled[0]?.label}” is disabled.` : `${disabled.length} receivers are disabled.`}
      </strong>{" "}
      {held === 0
        ? "New deliveries to it are held."
        : `${held.toLocaleString("en-PH")} ${held === 1 ? "delivery is" : "deliveries are"} held.`}{" "}
      <AnchorLink to="/developers/receivers" inherit underline="always">
        See the receivers
      </AnchorLink>
    </Notice>
  );
}
