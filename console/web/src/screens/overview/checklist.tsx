import { Anchor, Group, Stack, Text } from "@mantine/core";
import type { Output } from "@brand-records/console-contract";
import type { ReactNode } from "react";
import styles from "./checklist.module.css";
import { FirstCall } from "../../parts/copyable.tsx";
import { AnchorLink } from "../../parts/links.tsx";
import { Hint } from "../../parts/states.tsx";
import { Step, Steps } from "../../parts/steps.tsx";

/** The steps of the set-up; folded once all are done. */
export function Checklist({ steps, isEligible }: { readonly steps: readonly SetUpStep[]; readonly isEligible: boolean }) {
  const done = steps.filter(({ isDone }) => isDone).length;
  if (done === steps.length) {
    return (
      <details className="folded">
        <summary className={styles["complete"]}>
          Set-up complete: {done} of {steps.length} steps
        </summary>
        <SetUpSteps steps={steps} />
      </details>
    );
  }
  return (
    <Stack component="section" gap="xs" aria-label="Set-up">
      <Group justify="space-between" align="baseline" gap="var(--space-4) var(--space-16)">
        <Text component="h2" fw={600}>
          {isEligible ? "Set up your integration" : "What you can set up then"}
        </Text>
        <Hint>
          {done} of {steps.length} done
        </Hint>
      </Group>
      <SetUpSteps steps={steps} />
    </Stack>
  );
}

function SetUpSteps({ steps }: { readonly steps: readonly SetUpStep[] }) {
  const next = steps.find(({ isDone }) => !isDone);
  return (
    <Steps isFramed>
      {steps.map((step) => (
        <Step key={step.title} title={step.title} isDone={step.isDone} isCurrent={step === next}>
          <Hint>{step.text}</Hint>
          <Group className={styles["action"] ?? ""} align="stretch" gap="var(--space-8) var(--space-20)" mt="var(--space-4)">
            {step.action}
          </Group>
        </Step>
      ))}
    </Steps>
  );
}

interface SetUpStep {
  readonly title: string;
  readonly isDone: boolean;
  readonly text: string;
  /** What the person can do about it, or see of it. */
  readonly action: ReactNode;
}

/** The steps from nothing to a receiver that accepts events. A member who is no owner sees what owners do. */
export function setUpSteps(
  { keys, receivers, has_accepted: hasAccepted }: Output<"overview.get">,
  isOwner: boolean,
  isEligible: boolean,
): readonly SetUpStep[] {
  const [receiver] = receivers;
  const active = keys.filter(({ revoked_at }) => revoked_at === null);
  const mayAct = isOwner && isEligible;
  const byOwners = isOwner ? "" : " An owner of your brand does this.";
  const hasCalled = keys.some(({ last_used_at }) => last_used_at !== null);
  return [
    {
      title: "Create an API key",
      isDone: active.length > 0,
      text: `A key lets one integration read this brand’s records.${byOwners}`,
      action: <AnchorLink to="/developers/keys">{mayAct && active.length === 0 ? "Create a key" : "API keys"}</AnchorLink>,
    },
    {
      title: "Call the API",
      isDone: hasCalled,
      text: hasCalled ? "A key has been used." : "The first call shows here within a minute.",
      action: (
        <>
          {!hasCalled && active.length > 0 && isEligible && <FirstCall />}
          <Anchor href="/docs/api">Using the API</Anchor>
          <AnchorLink to="/developers/assistants">Connect an assistant</AnchorLink>
        </>
      ),
    },
    {
      title: "Register a receiver",
      isDone: receivers.length > 0,
      text: `Signed events go to an HTTPS address of yours when something is approved, rejected, paid or settled.${byOwners}`,
      action:
        mayAct && receivers.length === 0 ? (
          <AnchorLink to="/developers/receivers/new">Register a receiver</AnchorLink>
        ) : (
          <AnchorLink to="/developers/receivers">Receivers</AnchorLink>
        ),
    },
    {
      title: "Have a test delivery accepted",
      isDone: hasAccepted,
      text: `A test shows that your receiver verifies the signature and responds with 2xx.${byOwners}`,
      action: receiver && (
        <AnchorLink to="/developers/receivers/$receiverId" params={{ receiverId: receiver.id }}>
          {receiver.label}
        </AnchorLink>
      ),
    },
  ];
}
