import { Radio } from "@mantine/core";
import { DateField } from "./date-field.tsx";
import { CAMPAIGN_TYPES, FIELD_NAMES } from "../plan-texts.ts";
import styles from "../plans.module.css";
import { fieldId, type StepProps } from "./step.ts";
import { TextField } from "./text-field.tsx";

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
          hintOf={(day) => (day > values.planned_for && values.planned_for !== "" ? "It is after the planned day." : undefined)}
        />
      </div>
    </>
  );
}
