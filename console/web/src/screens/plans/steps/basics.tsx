import { Radio, TextInput } from "@mantine/core";
import { CAMPAIGN_TYPES, FIELD_NAMES } from "../plan-texts.ts";
import styles from "../plans.module.css";
import { fieldId, type StepProps } from "./step.ts";
import { TextField } from "./text-field.tsx";
import { fullDayText, today } from "../../../parts/filters/days.ts";

export function BasicsStep(props: StepProps) {
  const { values, problems, edit } = props;
  return (
    <>
      <TextField {...props} field="title" help="The name your team recognizes the plan by" isRequired />
      <TextField {...props} field="goal" help="What the campaign should achieve" rows={2} isRequired />
      <Radio.Group
        id={fieldId("campaign_type")}
        label={FIELD_NAMES.campaign_type}
        error={problems["campaign_type"]}
        value={values.campaign_type}
        onChange={(type) => edit("campaign_type", type)}
        required
      >
        <div className={styles["choices"]}>
          {CAMPAIGN_TYPES.map(({ type, name, text }) => (
            <Radio key={type} value={type} label={name} description={text} />
          ))}
        </div>
      </Radio.Group>
      <div className={styles["pair"]}>
        <DateField {...props} field="planned_for" />
        <DateField
          {...props}
          field="review_on"
          hintOf={(day) => (day < values.planned_for ? "It is before the planned day." : undefined)}
        />
      </div>
    </>
  );
}

interface DateFieldProps extends StepProps {
  readonly field: "planned_for" | "review_on";
  /** What is unusual about the day, but not wrong. */
  hintOf?(day: string): string | undefined;
}

/** A calendar date with the day in words, because browsers write dates in the order of their own language. A past day is allowed. */
function DateField({ field, hintOf, values, problems, edit }: DateFieldProps) {
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
      error={problems[field]}
      value={day}
      required
      onChange={({ currentTarget: { value } }) => edit(field, value)}
    />
  );
}
