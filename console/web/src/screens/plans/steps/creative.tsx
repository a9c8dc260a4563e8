import { PLAN_LIMITS } from "@brand-records/resources/plan-limits";
import { ListField } from "./list-field.tsx";
import type { StepProps } from "./step.ts";
import { TextField } from "./text-field.tsx";

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
