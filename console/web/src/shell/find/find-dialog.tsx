import { Combobox, Modal, TextInput, useCombobox } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useRouter } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { useBrand, useMe } from "../../api/brand.ts";
import { query } from "../../api/queries.ts";
import { useShowBrand } from "../show-brand.ts";
import { AREAS } from "../places.ts";
import { findTargets, type Found, type Target } from "./find-targets.ts";
import styles from "./find-dialog.module.css";

/** A field and what its text finds; the arrow keys choose, Enter opens. */
export default function FindDialog({ close }: { close(): void }) {
  const [text, setText] = useState("");
  const found = useFound(text);
  const open = useOpen();
  const combobox = useCombobox({ opened: true });
  const { selectFirstOption } = combobox;
  useEffect(() => {
    // The dialog's contents come one frame after it.
    const frame = requestAnimationFrame(() => selectFirstOption());
    return () => cancelAnimationFrame(frame);
  }, [text, found.length, selectFirstOption]);
  const choose = (index: string): void => {
    const chosen = found[Number(index)];
    if (chosen === undefined) return;
    close();
    open(chosen.target);
  };
  return (
    <Modal opened onClose={close} title="Find">
      <Combobox store={combobox} onOptionSubmit={choose} withinPortal={false}>
        <Combobox.EventsTarget withExpandedAttribute>
          <TextInput
            label="An id, or the name of a page, a receiver or a brand"
            placeholder="evt_…, dlv_…, sub_…, or a name"
            data-autofocus
            autoComplete="off"
            spellCheck={false}
            value={text}
            onChange={({ currentTarget }) => setText(currentTarget.value)}
          />
        </Combobox.EventsTarget>
        <Combobox.Options aria-label="Found" className={styles["options"] ?? ""}>
          {found.length === 0 ? <Combobox.Empty>Nothing is found. An id must be whole.</Combobox.Empty> : found.map(option)}
        </Combobox.Options>
      </Combobox>
    </Modal>
  );
}

const option = ({ text, of }: Found, index: number) => (
  <Combobox.Option key={`${text} ${of}`} value={String(index)}>
    <div className={styles["option"]}>
      {text} <span>{of}</span>
    </div>
  </Combobox.Option>
);

function useFound(text: string): Found[] {
  const { isOwner, brand_id, ofBrand } = useBrand();
  const { memberships } = useMe();
  const { data } = useQuery(query("receivers.list", ofBrand));
  const places = AREAS.flatMap((area) => area.places).filter(({ isForOwners }) => isOwner || !isForOwners);
  return findTargets(text, {
    places,
    receivers: data?.receivers ?? [],
    brands: memberships.filter((membership) => membership.brand_id !== brand_id),
  });
}

/** Returns what leads to a target. Links name no brand: the page of an id shows the brand that has it. */
function useOpen(): (target: Target) => void {
  const { navigate } = useRouter();
  const showBrand = useShowBrand();
  return (target) => {
    switch (target.kind) {
      case "place":
        return void navigate({ to: target.to });
      case "event":
        return void navigate({ to: "/developers/events/$eventId", params: { eventId: target.id } });
      case "delivery":
        return void navigate({ to: "/developers/deliveries/$deliveryId", params: { deliveryId: target.id } });
      case "receiver":
        return void navigate({ to: "/developers/receivers/$receiverId", params: { receiverId: target.id } });
      case "key":
        return void navigate({ to: "/developers/keys", search: { key: target.id } });
      case "plan":
        // The plan's own type takes the place of this one.
        return void navigate({ to: "/workspaces/$type/plans/$planId", params: { type: "ugc", planId: target.id } });
      case "record":
        return void navigate({ to: "/developers/events", search: { record_id: target.id } });
      case "brand":
        return showBrand(target.id);
    }
  };
}
