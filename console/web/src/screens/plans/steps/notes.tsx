import { Notice } from "../../../parts/states.tsx";
import type { StepProps } from "./step.ts";
import { TextField } from "./text-field.tsx";

export const NotesStep = (props: StepProps) => (
  <>
    <Notice>
      <strong>Only your team sees these.</strong> No integration can read them, not even the one that prepared the plan.
    </Notice>
    <TextField {...props} field="notes" help="For your brand’s own people" rows={8} />
  </>
);
