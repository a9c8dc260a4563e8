import type { Receiver } from "@brand-records/console-contract";
import { Text } from "@mantine/core";
import { ConfirmChange, ConfirmDialog } from "../../parts/confirm-dialog.tsx";
import { Hint } from "../../parts/states.tsx";
import { When } from "../../parts/when.tsx";

interface NextSecretProps {
  readonly receiver: Receiver;
  onClose(): void;
}

interface ReplaceProps extends NextSecretProps {
  readonly change: { readonly isPending: boolean; readonly error: Error | null };
  onConfirm(): void;
}

/** Asks before another secret takes the place of the next one: that is lost then. */
export const ReplaceNextSecret = ({ receiver: { next_secret_at, next_secret_accepted_at }, change, onConfirm, onClose }: ReplaceProps) => (
  <ConfirmDialog
    title="Replace the next secret?"
    change={change}
    action="Replace the next secret"
    isDangerous
    isCancelFocused
    unknownOutcome="The secret may have been made, but it cannot be shown any more. Make another one to replace it."
    onConfirm={onConfirm}
    onClose={onClose}
  >
    <Text>
      There is a next secret already
      <When before=", made " at={next_secret_at} />
      {next_secret_accepted_at !== null && ", and your receiver accepted a test signed with it"}. Another one replaces it for good.
    </Text>
    <Hint>A receiver that has only the replaced secret refuses every delivery from now on.</Hint>
  </ConfirmDialog>
);

/** Puts the next secret in force, and the present one out. It closes itself: the receiver that is read again has no next secret. */
export function ActivateNextSecret({ receiver, isForced, onClose }: NextSecretProps & { readonly isForced: boolean }) {
  const { id, label, next_secret_accepted_at } = receiver;
  return (
    <ConfirmChange
      title="Activate the next secret?"
      operation="receivers.activate"
      input={{ receiver_id: id, force: isForced }}
      changes={["receivers.get", "receivers.list"]}
      action="Activate"
      isDangerous
      isCancelFocused
      unknownOutcome="It may have been activated all the same: the page shows it."
      onClose={onClose}
    >
      <Text>
        From then on, <strong>{label}</strong> must verify with the next secret alone. The old one is worthless, and cannot be had back.
      </Text>
      <Hint>
        {next_secret_accepted_at === null ? (
          "It has not accepted a test signed with the next secret. Without that secret it refuses every delivery."
        ) : (
          <>
            It accepted a test signed with the next secret <When at={next_secret_accepted_at} />.
          </>
        )}
      </Hint>
    </ConfirmChange>
  );
}
