import { PLAN_LIMITS, countCharacters } from "@brand-records/resources/plan-limits";
import { Textarea, TextInput } from "@mantine/core";
import type { ChangeEvent } from "react";
import { FIELD_NAMES } from "../plan-texts.ts";
import styles from "../plans.module.css";
import { fieldId, type StepProps } from "./step.ts";

interface TextFieldProps extends StepProps {
  readonly field: "title" | "goal" | "summary" | "brief" | "notes";
  /** Beneath the field; near the limit, the number of characters takes its place. */
  readonly help: string;
  /** The least height of a text of several lines; absent for one line. */
  readonly rows?: number;
  readonly isRequired?: boolean;
}

/** A text, kept as it is typed: nothing is trimmed, and nothing is cut off at the limit. */
export function TextField({ field, help, rows, isRequired = false, values, problems, edit }: TextFieldProps) {
  const value = values[field];
  const shared = {
    id: fieldId(field),
    label: FIELD_NAMES[field],
    description: characterCount(value, PLAN_LIMITS[field]) ?? help,
    error: problems[field],
    value,
    required: isRequired,
    dir: "auto",
    autoComplete: "off",
    onChange: ({ currentTarget }: ChangeEvent<HTMLInputElement | HTMLTextAreaElement>) => edit(field, currentTarget.value),
  };
  return rows === undefined ? (
    <TextInput {...shared} />
  ) : (
    <Textarea {...shared} rows={rows} classNames={{ input: styles["grows"] ?? "" }} styles={{ input: { minHeight: `${rows + 1}lh` } }} />
  );
}

/** Share of the limit from which on the count shows. */
const NEAR = 0.8;

const number = (count: number): string => count.toLocaleString("en");

/** How much of a limit a text takes: "1,850 of 2,000 characters". Undefined while it is far from it. */
export function characterCount(text: string, max: number): string | undefined {
  const count = countCharacters(text);
  if (count > max) return `${number(count)} of ${number(max)} characters: ${number(count - max)} too many`;
  return count >= max * NEAR ? `${number(count)} of ${number(max)} characters` : undefined;
}
