import type { Key, Receiver } from "@brand-records/console-contract";
import { useQuery } from "@tanstack/react-query";
import { createContext, useContext, type ReactNode } from "react";
import { query } from "../../api/queries.ts";
import { AnchorLink } from "../../parts/links.tsx";
import { useBrand } from "../../api/brand.ts";
import styles from "./audit.module.css";

const KEEP_MS = 30 * 24 * 3_600_000;

interface Names {
  readonly keys: ReadonlyMap<string, Key>;
  /** Undefined until they are read: one that is missing is no deleted one then. */
  readonly receivers: ReadonlyMap<string, Receiver> | undefined;
}

const NamesContext = createContext<Names>({ keys: new Map(), receivers: undefined });

/** Knows keys and the receivers of the brand by name. Until they are read, and if they cannot be, their ids show. */
export function SubjectNames({ keys, children }: { readonly keys: readonly Key[]; readonly children: ReactNode }) {
  const { ofBrand } = useBrand();
  const receivers = useQuery(query("receivers.list", ofBrand)).data?.receivers;
  return <NamesContext value={{ keys: byId(keys), receivers: receivers && byId(receivers) }}>{children}</NamesContext>;
}

const byId = <Named extends { readonly id: string }>(all: readonly Named[]) => new Map(all.map((one) => [one.id, one]));

/** What an entry is about, with a link if it still has a page. */
export function Subject({ id, at }: { readonly id: string; readonly at: string }) {
  const { brand_id, brand_name } = useBrand();
  const { keys, receivers } = useContext(NamesContext);
  if (id === brand_id) return brand_name;
  const key = keys.get(id);
  if (key !== undefined) {
    return (
      <AnchorLink to="/developers/keys" inherit>
        {key.name} <code className={styles["id"]}>{key.hint}</code>
      </AnchorLink>
    );
  }
  const receiver = receivers?.get(id);
  if (receiver !== undefined) {
    return (
      <AnchorLink to="/developers/receivers/$receiverId" params={{ receiverId: id }} inherit>
        {receiver.label}
      </AnchorLink>
    );
  }
  const shown = <code className={styles["id"]}>{id}</code>;
  if (id.startsWith("rcv_") && receivers !== undefined) return <>{shown} (deleted)</>;
  // A delivery is stored no longer than its event.
  if (!id.startsWith("dlv_") || Date.now() - Date.parse(at) > KEEP_MS) return id.includes("@") ? id : shown;
  return (
    <AnchorLink to="/developers/deliveries/$deliveryId" params={{ deliveryId: id }} inherit>
      {shown}
    </AnchorLink>
  );
}
