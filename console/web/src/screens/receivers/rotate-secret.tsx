import type { Receiver } from "@brand-records/console-contract";
import { Button, Checkbox, Text } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { CallError } from "../../api/call.ts";
import { useChange } from "../../api/queries.ts";
import { loadedDialog } from "../../parts/loaded-part.tsx";
import { useResultInView } from "../../parts/result-in-view.ts";
import { SecretDialog, useSecretChange } from "../../parts/secret-dialog.tsx";
import { announce, FormError, Notice } from "../../parts/states.tsx";
import { Step, Steps } from "../../parts/steps.tsx";
import { When } from "../../parts/when.tsx";
import { WatchDelivery } from "./watch-delivery.tsx";

const ReplaceNextSecret = loadedDialog(async () => (await import("./next-secret-dialogs.tsx")).ReplaceNextSecret);
const ActivateNextSecret = loadedDialog(async () => (await import("./next-secret-dialogs.tsx")).ActivateNextSecret);

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
  const result = useResultInView(hasActivated);
  useEffect(() => {
    if (hasActivated) announce("The new secret is in force");
  }, [hasActivated]);
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
        <div ref={result} tabIndex={-1} role="group" aria-label="The new secret" className="page-title">
          <Notice tone="good">
            The new secret is in force. Remove the old one from your receiver a minute from now: attempts in flight end by then.
          </Notice>
        </div>
      )}
      <Steps>
        <MakeStep receiver={receiver} />
        <TestStep receiver={receiver} />
        <ActivateStep key={String(receiver.rotating)} receiver={receiver} />
      </Steps>
    </>
  );
}

/** Making one is harmless: the receiver goes on verifying the first signature. Replacing one is not. */
function MakeStep({ receiver }: ReceiverProps) {
  const { id, rotating, next_secret_at } = receiver;
  const [isOpen, setIsOpen] = useState(false);
  const navigate = useNavigate();
  const client = useQueryClient();
  const rotate = useSecretChange("receivers.rotate", ["receivers.get", "receivers.list"], "The next secret is made");
  const make = (replace: boolean): void =>
    rotate.make({ receiver_id: id, replace }, (error) => {
      // Another person has made one: the page then asks.
      if (error instanceof CallError && error.code === "request_conflict") void client.invalidateQueries({ queryKey: ["receivers.get"] });
    });
  const close = (): void => {
    // The test was one of an earlier next secret.
    if (rotate.made !== undefined) void navigate({ to: ".", search: {}, replace: true, resetScroll: false });
    rotate.forget();
    setIsOpen(false);
  };
  return (
    <Step as="h3" title="Make the next secret" isDone={rotating} isCurrent={!rotating}>
      {rotating ? (
        <Text size="sm">
          <When before="Made " at={next_secret_at} after=". " />
          Until you activate it, each delivery’s <code>webhook-signature</code> has two signatures, by the present secret and by this one.
        </Text>
      ) : (
        <Text size="sm">
          It shows once, so have the place ready where you store it. From then on each delivery’s <code>webhook-signature</code> has two
          signatures, by the present secret and by the next one. Your receiver goes on verifying the first; it needs no change yet.
        </Text>
      )}
      <Button
        variant={rotating ? "default" : "filled"}
        size="xs"
        loading={rotate.isPending && !isOpen}
        onClick={() => (rotating ? setIsOpen(true) : make(false))}
      >
        {rotating ? "Replace the next secret" : "Make the next secret"}
      </Button>
      {!isOpen && (
        <FormError
          error={rotate.error}
          unknownOutcome="The secret may have been made, but it cannot be shown any more. Make another one to replace it."
        />
      )}
      {rotate.made !== undefined ? (
        <SecretDialog title="The next signing secret" kind="signing secret" secret={rotate.made.secret} onStored={close}>
          <Text size="sm">
            Give it to your receiver beside the present one, so that it accepts a signature by either. Then send the test of step 2.
          </Text>
        </SecretDialog>
      ) : (
        isOpen && <ReplaceNextSecret receiver={receiver} change={rotate} onConfirm={() => make(true)} onClose={close} />
      )}
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

function ActivateStep({ receiver }: ReceiverProps) {
  const { rotating, next_secret_accepted_at } = receiver;
  const [isForced, setIsForced] = useState(false);
  const [isOpen, setIsOpen] = useState(false);
  const isAccepted = next_secret_accepted_at !== null;
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
          <Button size="xs" variant={isAccepted || isForced ? "filled" : "default"} onClick={() => setIsOpen(true)}>
            Activate
          </Button>
          {isOpen && <ActivateNextSecret receiver={receiver} isForced={!isAccepted && isForced} onClose={() => setIsOpen(false)} />}
        </>
      )}
    </Step>
  );
}
