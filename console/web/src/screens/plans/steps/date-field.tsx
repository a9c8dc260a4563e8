import { TextInput } from "@mantine/core";
import { fullDayText, today } from "../../../parts/filters/days.ts";
import { FIELD_NAMES } from "../plan-texts.ts";
import { fieldId, type StepProps } from "./step.ts";

interface DateFieldProps extends StepProps {
  readonly field: "planned_for" | "review_on";
  /** What is unusual about the day, but not wrong. */
  hintOf?(day: string): string | undefined;
}

/** A calendar date with the day in words, because browsers write dates in the order of their own language. A past day is allowed. */
export function DateField({ field, hintOf, values, problems, edit }: DateFieldProps) {
  const day = values[field];
  const hint = day < today() ? "This day is in the past." : hintOf?.(day);
  return (
    <TextInput
      id={fieldId(field)}
      type="date"
      // Browsers take years of six digits unless there is a maximum.
      max="9999-12-31"
      label={FIELD_NAMES[field]}
      description={
        day !== "" && (
          <>
            {fullDayText(day)}
            {hint !== undefined && <strong>. {hint}</strong>}
          </>
        )
      }
      inputWrapperOrder={["label", "input", "error", "description"]}
      error={problems[field]}
      value={day}
      required
      onChange={({ currentTarget: { value } }) => edit(field, value)}
    />
  );
}
