import { Button, NativeSelect, TextInput } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useNavigate } from "@tanstack/react-router";
import { useId, useState, type KeyboardEvent } from "react";
import { dayText, isDay } from "./days.ts";
import styles from "./filter-bar.module.css";
import { announce } from "../states.tsx";

export type Filter =
  | {
      readonly kind: "choice";
      readonly name: string;
      readonly label: string;
      /** The choice that filters nothing. */
      readonly all: string;
      readonly options: readonly { readonly value: string; readonly label: string }[];
    }
  /** First and last day, in Manila, in the URL as `from` and `to`: see instantsOf. */
  | { readonly kind: "days" }
  | {
      readonly kind: "text";
      readonly name: string;
      readonly label: string;
      readonly placeholder?: string;
      readonly pattern: RegExp;
      /** Shown for text that does not match the pattern. */
      readonly problem: string;
      /** Offered while people type; applied as soon as it is chosen. */
      readonly suggestions?: readonly string[];
    };

type FilterValues = Readonly<Record<string, string | undefined>>;

interface FilterBarProps {
  readonly filters: readonly Filter[];
  /** What `searchOf` has read from the URL. */
  readonly values: FilterValues;
}

const namesOf = (filter: Filter): readonly string[] => (filter.kind === "days" ? ["from", "to"] : [filter.name]);

/** Whether any filter is set: an empty list then has another reason. */
export const isFiltered = (filters: readonly Filter[], values: FilterValues): boolean =>
  filters.flatMap(namesOf).some((name) => values[name] !== undefined);

/** Filters of a list. They live in the URL; changing one drops everything else from it, such as the page. */
export function FilterBar({ filters, values }: FilterBarProps) {
  const navigate = useNavigate();
  const [isOpen, { toggle }] = useDisclosure(false);
  const count = filters.flatMap(namesOf).filter((name) => values[name] !== undefined).length;
  const show = (search: FilterValues): void => void navigate({ to: ".", search, resetScroll: false });
  const set = (changed: FilterValues): void => {
    const next = { ...values, ...changed };
    show(Object.fromEntries(filters.flatMap(namesOf).flatMap((name) => (next[name] === undefined ? [] : [[name, next[name]]]))));
  };
  return (
    <div className={styles["bar"]} role="search" aria-label="Filters" tabIndex={-1} data-open={isOpen || undefined}>
      {/* A narrow screen begins with the list. */}
      <Button className={styles["toggle"]} variant="default" size="xs" onClick={toggle} aria-expanded={isOpen}>
        Filters{count > 0 && ` (${count})`}
      </Button>
      {filters.map((filter) => (
        <FilterField key={namesOf(filter).join()} filter={filter} values={values} set={set} />
      ))}
      {isFiltered(filters, values) && (
        <Button
          className={styles["clear"]}
          variant="subtle"
          size="xs"
          onClick={() => {
            show({});
            announce("Filters cleared");
          }}
        >
          Clear filters
        </Button>
      )}
    </div>
  );
}

interface FieldProps {
  readonly filter: Filter;
  readonly values: FilterValues;
  set(changed: FilterValues): void;
}

function FilterField({ filter, values, set }: FieldProps) {
  if (filter.kind === "choice") return <Choice filter={filter} value={values[filter.name]} set={set} />;
  if (filter.kind === "text") return <TextFilter filter={filter} value={values[filter.name]} set={set} />;
  const { from, to } = values;
  return (
    <div className={styles["days"]}>
      <DayFilter name="from" label="From" value={from} max={to} set={set} />
      <DayFilter name="to" label="To" value={to} min={from} set={set} />
    </div>
  );
}

interface ValueProps<Kind extends Filter["kind"]> extends Pick<FieldProps, "set"> {
  readonly filter: Extract<Filter, { kind: Kind }>;
  readonly value: string | undefined;
}

function Choice({ filter: { name, label, all, options }, value = "", set }: ValueProps<"choice">) {
  // A link may name what is no longer, or not yet, among the options.
  const isListed = value === "" || options.some((option) => option.value === value);
  return (
    <NativeSelect
      label={label}
      size="xs"
      value={value}
      onChange={({ currentTarget }) => set({ [name]: currentTarget.value || undefined })}
      data={[{ value: "", label: all }, ...options, ...(isListed ? [] : [{ value, label: value }])]}
    />
  );
}

/** What is typed and not applied yet. It follows the URL. */
function useDraft(value: string): [draft: string, setDraft: (draft: string) => void] {
  const [draft, setDraft] = useState(value);
  const [applied, setApplied] = useState(value);
  if (applied !== value) {
    setApplied(value);
    setDraft(value);
  }
  return [draft, setDraft];
}

const onEnter =
  (apply: () => void) =>
  ({ key }: KeyboardEvent): void => {
    if (key === "Enter") apply();
  };

interface DayFilterProps extends Pick<FieldProps, "set"> {
  readonly name: "from" | "to";
  readonly label: string;
  readonly value: string | undefined;
  /** The other end of the range. */
  readonly min?: string | undefined;
  readonly max?: string | undefined;
}

/** A day applies as soon as it is complete; an emptied one when the field is left, because it is empty while it is typed, too. */
function DayFilter({ name, label, value = "", min, max, set }: DayFilterProps) {
  const [draft, setDraft] = useDraft(value);
  const problemOf = (day: string): string | undefined => {
    if (!isDay(day)) return undefined;
    if (min !== undefined && day < min) return "Is before the first day";
    return max !== undefined && day > max ? "Is after the last day" : undefined;
  };
  const clear = (): void => {
    if (draft === "" && value !== "") set({ [name]: undefined });
  };
  return (
    <TextInput
      type="date"
      label={label}
      size="xs"
      value={draft}
      {...(min !== undefined && { min })}
      {...(max !== undefined && { max })}
      error={problemOf(draft)}
      // Browsers write days in the order of their own language.
      description={isDay(draft) && dayText(draft)}
      onChange={({ currentTarget: { value: day } }) => {
        setDraft(day);
        if (isDay(day) && problemOf(day) === undefined) set({ [name]: day });
      }}
      onBlur={clear}
      onKeyDown={onEnter(clear)}
    />
  );
}

function TextFilter({ filter: { name, label, placeholder, pattern, problem, suggestions }, value = "", set }: ValueProps<"text">) {
  const [draft, setDraft] = useDraft(value);
  // The text that was refused. Another one, as after "Clear filters", is not wrong.
  const [refused, setRefused] = useState<string>();
  const isWrong = draft === refused;
  const listId = useId();
  const apply = (typed: string): void => {
    const text = typed.trim();
    const isRight = text === "" || pattern.test(text);
    setRefused(isRight ? undefined : typed);
    if (isRight && text !== value) set({ [name]: text || undefined });
  };
  return (
    <>
      <TextInput
        className={styles["wide"] ?? ""}
        label={label}
        size="xs"
        value={draft}
        placeholder={placeholder}
        error={isWrong && `${problem} The list below is as before.`}
        description={!isWrong && draft.trim() !== value && (draft.trim() === "" ? "Press Enter to clear it" : "Press Enter to filter")}
        autoComplete="off"
        spellCheck={false}
        enterKeyHint="search"
        {...(suggestions !== undefined && { list: listId })}
        onChange={({ currentTarget: { value: typed } }) => {
          setDraft(typed);
          setRefused(undefined);
          if (suggestions?.includes(typed)) apply(typed);
        }}
        onBlur={() => apply(draft)}
        onKeyDown={onEnter(() => apply(draft))}
      />
      {suggestions !== undefined && (
        <datalist id={listId}>
          {suggestions.map((suggestion) => (
            <option key={suggestion} value={suggestion} />
          ))}
        </datalist>
      )}
    </>
  );
}
