import { TextInput } from "@mantine/core";
import { Pesos } from "../../../parts/pesos.tsx";
import { centavosOf, pesosText } from "../money.ts";
import { FIELD_NAMES } from "../plan-texts.ts";
import { fieldId, type StepProps } from "./step.ts";

/** Pesos as text: number fields refuse or change "1,234,567.50" when it is pasted. What was read from it shows beneath. */
export function BudgetStep({ values: { budget }, problems, edit }: StepProps) {
  const centavos = centavosOf(budget);
  return (
    <TextInput
      id={fieldId("budget")}
      label={`${FIELD_NAMES.budget} in pesos`}
      leftSection={<span aria-hidden="true">₱</span>}
      description={
        <>
          {centavos !== undefined && pesosText(centavos) !== budget && (
            <>
              <Pesos centavos={centavos} />.{" "}
            </>
          )}
          A figure to plan with: nothing is charged.
        </>
      }
      inputWrapperOrder={["label", "input", "error", "description"]}
      error={problems["budget"]}
      value={budget}
      required
      inputMode="decimal"
      autoComplete="off"
      maw={280}
      styles={{ description: { width: "max-content", maxWidth: "min(32rem, 80vw)" } }}
      onChange={({ currentTarget: { value } }) => edit("budget", value)}
      // An amount shows as amounts do; anything else stays to be corrected.
      onBlur={() => {
        if (centavos !== undefined && pesosText(centavos) !== budget) edit("budget", pesosText(centavos));
      }}
    />
  );
}
