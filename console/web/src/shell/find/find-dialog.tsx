import { Box, Combobox, Group, Modal, TextInput, useCombobox } from "@mantine/core";
import { useRouter } from "@tanstack/react-router";
import { useEffect, useId, useState, type KeyboardEvent } from "react";
import { useBrand, useMe, useRead } from "../../api/queries.ts";
import { useReturnedFocus } from "../../parts/loaded-part.tsx";
import { useShowBrand, AREAS } from "../places.ts";
import { findTargets, type Found } from "./find-targets.ts";
import styles from "./find-dialog.module.css";

/** A field and what its text finds, of which the first is chosen; the arrow keys choose another, Enter opens. */
export default function FindDialog({ onClose: close }: { onClose(): void }) {
  useReturnedFocus();
  const [text, setText] = useState("");
  const [chosen, setChosen] = useState(0);
  const found = useFound(text);
  const { navigate } = useRouter();
  const showBrand = useShowBrand();
  const store = useCombobox({ opened: true });
  const listId = useId();
  const idOf = (index: number): string => `${listId}-${index}`;
  const chosenId = found.length === 0 ? undefined : idOf(chosen);
  useEffect(() => {
    if (chosenId !== undefined) document.getElementById(chosenId)?.scrollIntoView({ block: "nearest" });
  }, [chosenId]);
  const choose = (index: number): void => {
    const target = found[index]?.target;
    if (target === undefined) return;
    close();
    if ("brand_id" in target) showBrand(target.brand_id);
    else void navigate(target);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = STEPS[event.key];
    // An input method is composing a word: its keys are its own.
    if (event.nativeEvent.isComposing || found.length === 0 || (step === undefined && event.key !== "Enter")) return;
    event.preventDefault();
    if (step === undefined) choose(chosen);
    else setChosen((chosen + step + found.length) % found.length);
  };
  return (
    <Modal opened onClose={close} title="Find">
      <Combobox store={store} onOptionSubmit={(index) => choose(Number(index))} withinPortal={false}>
        <TextInput
          label="An id, or the name of a page, a receiver or a brand"
          placeholder="evt_…, dlv_…, sub_…, or a name"
          data-autofocus
          autoComplete="off"
          spellCheck={false}
          // Mantine's own attributes do not name the option that is chosen before an arrow key is pressed.
          role="combobox"
          aria-expanded
          aria-haspopup="listbox"
          aria-autocomplete="list"
          aria-controls={listId}
          aria-activedescendant={chosenId}
          value={text}
          onChange={({ currentTarget }) => {
            setText(currentTarget.value);
            setChosen(0);
          }}
          onKeyDown={onKeyDown}
        />
        {/* As high whatever is found: the dialog does not move while one types. */}
        <Box mt="sm" h="min(24rem, 55vh)">
          <Combobox.Options id={listId} aria-label="Found" mah="100%" style={{ overflowY: "auto" }}>
            {found.map(({ text: name, of }, index) => (
              <Combobox.Option
                // Neither a name nor a target tells any two apart: receivers may have the same, and pages.
                key={index}
                id={idOf(index)}
                value={String(index)}
                selected={index === chosen}
                aria-selected={index === chosen}
              >
                <Group className={`${styles["option"]} breakable`} justify="space-between" align="stretch" gap="0 var(--space-16)">
                  {name} <span>{of}</span>
                </Group>
              </Combobox.Option>
            ))}
          </Combobox.Options>
          {found.length === 0 && <Combobox.Empty role="status">Nothing is found. An id must be whole.</Combobox.Empty>}
        </Box>
      </Combobox>
    </Modal>
  );
}

const STEPS: Readonly<Record<string, number | undefined>> = { ArrowDown: 1, ArrowUp: -1 };

function useFound(text: string): Found[] {
  const { isOwner, brand_id } = useBrand();
  const { memberships } = useMe();
  const { data } = useRead("receivers.list", {});
  const places = AREAS.flatMap((area) => area.places).filter(({ isForOwners }) => isOwner || !isForOwners);
  return findTargets(text, {
    places,
    receivers: data?.receivers ?? [],
    brands: memberships.filter((membership) => membership.brand_id !== brand_id),
  });
}
