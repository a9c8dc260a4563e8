import type { Receiver } from "@brand-records/console-contract";
import { Button, Checkbox, Text } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useChange } from "../../api/queries.ts";
import { loadedDialog } from "../../parts/loaded-part.tsx";
import { announce, FormError, Notice } from "../../parts/states.tsx";
import { Step, Steps } from "../../parts/steps.tsx";
import { When } from "../../parts/when.tsx";
import { WatchDelivery } from "./watch-delivery.tsx";

const MakeNextSecret = loadedDialog(async () => (await import("./make-next-secret.tsx")).MakeNextSecret);

const READ_AGAIN = ["receivers.get", "receivers.list"] as const;
const route = getRouteApi("/shell/developers/receivers/$receiverId/settings");

interface ReceiverProps {
  readonly receiver: Receiver;
}

/**
 * Replaces the signing secret in three steps, with days between them if need be. The service keeps how far it is; the URL keeps the last
 * test, so that its result shows after a reload too.
 */
export function RotateSecret({ receiver }: ReceiverProps) {
  const [wasRotating, setWasRotating] = useState(receiver.rotating);
  const [hasActivated, setHasActivated] = useState(false);
  // What became of it, not what a response says: that may be lost, or another tab's.
  if (receiver.rotating !== wasRotating) {
    setWasRotating(receiver.rotating);
    setHasActivated(!receiver.rotating);
  }
  return (
    <>
      <Text size="sm">
        Rotate the secret if it may have leaked, or from time to time. The present one stays in force until the last step, so no delivery is
        lost.
      </Text>
      {hasActivated && (
        <Notice>
          The new secret is in force. Remove the old one from your receiver a minute from now: attempts in flight end by then.
        </Notice>
      )}
      <Steps>
        <MakeStep receiver={receiver} />
        <TestStep receiver={receiver} />
        <ActivateStep receiver={receiver} />
      </Steps>
    </>
  );
}

/** Forgets the test of an earlier next secret. */
function useForgetTest(): () => void {
  const navigate = useNavigate();
  return () => void navigate({ to: ".", search: {}, replace: true, resetScroll: false });
}

function MakeStep({ receiver }: ReceiverProps) {
  const { rotating, next_secret_at } = receiver;
  const [isOpen, setIsOpen] = useState(false);
  const forgetTest = useForgetTest();
  return (
    <Step as="h3" title="Make the next secret" isDone={rotating} isCurrent={!rotating}>
      {rotating ? (
        <Text size="sm">
          <When before="Made " at={next_secret_at} after=". " />
          Until you activate it, each delivery’s <code>webhook-signature</code> has two signatures, by the present secret and by this one.
        </Text>
      ) : (
        <Text size="sm">
          It shows once. From then on each delivery’s <code>webhook-signature</code> has two signatures, by the present secret and by the
          next one.
        </Text>
      )}
      <Button variant={rotating ? "default" : "filled"} size="xs" onClick={() => setIsOpen(true)}>
        {rotating ? "Replace the next secret" : "Make the next secret"}
      </Button>
      {isOpen && <MakeNextSecret receiver={receiver} onMade={forgetTest} onClose={() => setIsOpen(false)} />}
    </Step>
  );
}

function TestStep({ receiver: { id, events, enabled, rotating, next_secret_accepted_at } }: ReceiverProps) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const { test: testId } = route.useSearch();
  const test = useChange("receivers.test", ["deliveries.list"]);
  const isAccepted = next_secret_accepted_at !== null;
  const send = (): void =>
    test.make({ receiver_id: id, type: events[0] ?? "", next: true }, ({ delivery_id }) => {
      announce("Test queued");
      void navigate({ to: ".", search: { test: delivery_id }, replace: true, resetScroll: false });
    });
  return (
    <Step as="h3" title="Send a test signed with the next secret alone" isDone={rotating && isAccepted} isCurrent={rotating && !isAccepted}>
      <Text size="sm">
        First give your receiver both secrets: <code>WEBHOOK_SECRET=whsec_present…,whsec_next…</code> in the documented programs.
      </Text>
      {rotating && isAccepted && (
        <Text size="sm">
          Your receiver accepted such a test <When at={next_secret_accepted_at} />.
        </Text>
      )}
      {rotating && !enabled && <Text size="sm">This receiver is disabled. Enable it first, or activate without a test.</Text>}
      {rotating && enabled && (
        <Button size="xs" variant={isAccepted ? "default" : "filled"} onClick={send} loading={test.isPending}>
          {testId === undefined && !isAccepted ? "Send test" : "Send another test"}
        </Button>
      )}
      <FormError error={test.error} />
      {rotating && testId !== undefined && (
        <WatchDelivery
          key={testId}
          deliveryId={testId}
          onAttempted={() => void client.invalidateQueries({ queryKey: ["receivers.get"] })}
        />
      )}
    </Step>
  );
}

function ActivateStep({ receiver: { id, label, rotating, next_secret_accepted_at } }: ReceiverProps) {
  const forgetTest = useForgetTest();
  const [isForced, setIsForced] = useState(false);
  const activate = useChange("receivers.activate", READ_AGAIN);
  const isAccepted = next_secret_accepted_at !== null;
  const submit = (): void =>
    activate.make({ receiver_id: id, force: !isAccepted && isForced }, () => {
      announce(`The new secret of ${label} is in force`);
      setIsForced(false);
      forgetTest();
    });
  return (
    <Step as="h3" title="Activate it" isDone={false} isCurrent={rotating && isAccepted}>
      <Text size="sm">
        From then on the next secret alone signs every attempt, retries of older deliveries included. The old one is worthless.
      </Text>
      {rotating && (
        <>
          {!isAccepted && (
            <Checkbox
              checked={isForced}
              onChange={({ currentTarget }) => setIsForced(currentTarget.checked)}
              label="Activate without an accepted test"
              description="For a leaked secret, if the receiver cannot follow at once. A receiver without the next secret refuses every delivery until it has it; refused deliveries are tried again, for three days."
            />
          )}
          <FormError error={activate.error} />
          <Button
            size="xs"
            color={isForced && !isAccepted ? "red.9" : "pine"}
            variant={isAccepted || isForced ? "filled" : "default"}
            onClick={submit}
            loading={activate.isPending}
          >
            Activate
          </Button>
        </>
      )}
    </Step>
  );
}
