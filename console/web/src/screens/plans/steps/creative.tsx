import { PLAN_LIMITS } from "@brand-records/resources/plan-limits";
import { ActionIcon, Button, Group, Input, Textarea, TextInput } from "@mantine/core";
import { useLayoutEffect, useRef, type ChangeEvent, type KeyboardEvent, type ReactNode } from "react";
import { type StepProps, fieldId } from "./step.ts";
import { TextField, characterCount } from "./text-field.tsx";
import { DownIcon, RemoveIcon, UpIcon } from "../../../parts/icons.tsx";
import { FIELD_NAMES } from "../plan-texts.ts";
import styles from "../plans.module.css";
import { announce } from "../../../parts/states.tsx";

export function CreativeStep(props: StepProps) {
  return (
    <>
      <TextField {...props} field="summary" help="The idea in a few sentences" rows={3} />
      <TextField {...props} field="brief" help="Instructions for creators" rows={6} />
      <ListField
        {...props}
        field="requirements"
        entryName="Requirement"
        help="What the content must have, one entry each"
        limits={PLAN_LIMITS.requirements}
        isMultiline
      />
      <ListField
        {...props}
        field="platforms"
        entryName="Platform"
        help="Where creators post the content, such as tiktok"
        limits={PLAN_LIMITS.platforms}
      />
    </>
  );
}

interface ListFieldProps extends StepProps {
  readonly field: "requirements" | "platforms";
  /** One entry: "Requirement". */
  readonly entryName: string;
  readonly help: string;
  readonly limits: { readonly entries: number; readonly characters: number };
  readonly isMultiline?: boolean;
}

/** Entries that people add, remove and put in order. Each action moves the focus to where the next one is likely, and is announced. */
function ListField({ field, entryName, help, limits, isMultiline = false, values, problems, edit }: ListFieldProps) {
  const entries = values[field];
  const focusNext = useFocusAfterRender();
  const idOf = (index: number): string => fieldId(`${field}.${index}`);

  const add = (at = entries.length): void => {
    if (entries.length >= limits.entries) return announce(`A plan has at most ${limits.entries} ${field}`);
    edit(field, entries.toSpliced(at, 0, ""));
    focusNext(idOf(at));
  };
  const remove = (index: number): void => {
    edit(field, entries.toSpliced(index, 1));
    announce(`${entryName} ${index + 1} removed`);
    const last = entries.length - 2;
    focusNext(last < 0 ? `${fieldId(field)}-add` : `${idOf(Math.min(index, last))}-remove`);
  };
  const move = (index: number, to: number, button: "up" | "down"): void => {
    const entry = entries[index];
    if (entry === undefined || to < 0 || to >= entries.length) return;
    edit(field, entries.toSpliced(index, 1).toSpliced(to, 0, entry));
    announce(`Moved to position ${to + 1} of ${entries.length}`);
    focusNext(`${idOf(to)}-${button}`);
  };
  const action = (index: number, kind: "up" | "down" | "remove", text: string, icon: ReactNode, isPossible: boolean, act: () => void) => (
    <ActionIcon
      id={`${idOf(index)}-${kind}`}
      variant="subtle"
      color="gray"
      size="lg"
      aria-label={`${text}: ${entryName.toLowerCase()} ${index + 1}`}
      // A disabled button would lose the focus of who has just used it.
      {...(!isPossible && { "aria-disabled": true, "data-disabled": true })}
      onClick={act}
    >
      {icon}
    </ActionIcon>
  );

  return (
    <fieldset className={styles["list"]} id={fieldId(field)} tabIndex={-1} aria-describedby={`${fieldId(field)}-help`}>
      <Input.Label component="legend">{FIELD_NAMES[field]}</Input.Label>
      {problems[field] !== undefined && <Input.Error>{problems[field]}</Input.Error>}
      <ol>
        {entries.map((entry, index) => {
          const shared = {
            id: idOf(index),
            "aria-label": `${entryName} ${index + 1}`,
            error: problems[`${field}.${index}`],
            description: characterCount(entry, limits.characters),
            value: entry,
            dir: "auto",
            autoComplete: "off",
            className: styles["entry"] ?? "",
            onChange: ({ currentTarget }: ChangeEvent<HTMLInputElement | HTMLTextAreaElement>) =>
              edit(field, entries.with(index, currentTarget.value)),
          };
          return (
            // Entries have no identity but their place: the fields show whatever the list has there.
            <li key={index}>
              {isMultiline ? (
                <Textarea {...shared} rows={1} classNames={{ input: styles["grows"] ?? "" }} />
              ) : (
                <TextInput
                  {...shared}
                  onKeyDown={(event: KeyboardEvent) => {
                    // Enter would save the step while people are typing one entry after the other.
                    if (event.key !== "Enter" || event.nativeEvent.isComposing) return;
                    event.preventDefault();
                    add(index + 1);
                  }}
                />
              )}
              <span className={styles["actions"]}>
                {action(index, "up", "Move up", <UpIcon />, index > 0, () => move(index, index - 1, "up"))}
                {action(index, "down", "Move down", <DownIcon />, index < entries.length - 1, () => move(index, index + 1, "down"))}
                {action(index, "remove", "Remove", <RemoveIcon />, true, () => remove(index))}
              </span>
            </li>
          );
        })}
      </ol>
      <Group gap="var(--space-8) var(--space-12)">
        <Button id={`${fieldId(field)}-add`} variant="default" size="xs" onClick={() => add()}>
          Add a {entryName.toLowerCase()}
        </Button>
        <Input.Description id={`${fieldId(field)}-help`}>
          {entries.length === 0 ? help : `${entries.length} of ${limits.entries} at most`}
        </Input.Description>
      </Group>
    </fieldset>
  );
}

/** Focuses an element by id once what was changed shows. */
function useFocusAfterRender(): (id: string) => void {
  const next = useRef<string>(undefined);
  useLayoutEffect(() => {
    if (next.current === undefined) return;
    document.getElementById(next.current)?.focus();
    next.current = undefined;
  });
  return (id) => {
    next.current = id;
  };
}
