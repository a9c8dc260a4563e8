import { Anchor, Checkbox, Stack, TextInput } from "@mantine/core";
import { useBlocker } from "@tanstack/react-router";
import { useState, type ReactNode } from "react";
import { CallError, fieldErrors } from "../../api/call.ts";
import { EVENT_TYPES } from "../../parts/event-types.ts";
import { Form, useFields } from "../../parts/form.tsx";
import { GuideLink } from "../../parts/links.tsx";
import { showProblems, FormError, Notice } from "../../parts/states.tsx";

export interface ReceiverValues {
  readonly url: string;
  readonly label: string;
  readonly events: string[];
  /** The text as typed; undefined for a new receiver, which has the default. */
  readonly maxInFlight?: string;
}

export interface SubmittedForm {
  /** Shows each problem at its field. */
  refuse(error: Error): void;
  /** Shows what was stored, where nothing else was typed since: the service trims a label, and writes a URL in its normal form. */
  fill(values: ReceiverValues): void;
}

interface ReceiverFormProps {
  readonly initial: ReceiverValues;
  /** Why it was not submitted the last time. */
  readonly error: Error | null;
  /** What to do if no response came. */
  readonly unknownOutcome: string;
  onSubmit(values: ReceiverValues, form: SubmittedForm): void;
  /** The buttons. */
  readonly children: ReactNode;
}

/** The settings of a receiver, new or not. */
export function ReceiverForm({ initial, error, unknownOutcome, onSubmit, children }: ReceiverFormProps) {
  const { values, errors, set, text, setValues, setErrors } = useFields<ReceiverValues>(initial);
  const [isSignedOut, setIsSignedOut] = useState(false);
  useBlocker({
    // The navigation of an ended session names a page to return to. Signing out, the person's choice, names none.
    shouldBlockFn({ next: { pathname, search } }) {
      const isKept = pathname === "/sign-in" && "return_to" in search && changedBy(initial, values, values).length > 0;
      setIsSignedOut(isKept);
      return isKept;
    },
    enableBeforeUnload: false,
  });
  const submit = (): void => {
    setIsSignedOut(false);
    setErrors({});
    onSubmit(values, {
      refuse: (refusal) => showProblems(() => setErrors(errorsOf(refusal))),
      fill: (stored) => setValues((now) => ({ ...now, ...Object.fromEntries(changedBy(stored, values, now)) })),
    });
  };
  return (
    <Form onSubmit={submit}>
      <Stack maw={560}>
        <TextInput
          {...text("url")}
          label="URL"
          description="A public HTTPS address that responds with 2xx. Not an incoming webhook of Slack, Discord, Teams or Google Chat."
          placeholder="https://hooks.example.com/brand-records"
          type="url"
          required
          autoComplete="off"
        />
        {error instanceof CallError && error.code === "chat_webhook" && <ChatRelay />}
        <TextInput
          {...text("label")}
          label="Label"
          description="How your team recognizes it, such as “Warehouse”"
          required
          autoComplete="off"
        />
        <Checkbox.Group value={values.events} error={errors["events"]} onChange={(events) => set({ events })} label="Events" required>
          <Stack gap="xs" mt="xs">
            {EVENT_TYPES.map(({ type, text }) => (
              <Checkbox key={type} value={type} label={text} description={type} />
            ))}
          </Stack>
        </Checkbox.Group>
        {initial.maxInFlight !== undefined && (
          <TextInput
            {...text("maxInFlight")}
            label="Attempts in flight"
            description="At most this many deliveries are sent to it at the same time: 1 to 64."
            type="number"
            inputMode="numeric"
            min={1}
            max={64}
            step={1}
            w={160}
            styles={{ description: { width: "max-content", maxWidth: "min(var(--line-length), 80vw)" } }}
            required
            autoComplete="off"
          />
        )}
        <FormError error={error} fields={["url", "label", "events", "max_in_flight"]} unknownOutcome={unknownOutcome} />
        {isSignedOut && <SignedOut />}
        {children}
      </Stack>
    </Form>
  );
}

type Field = keyof ReceiverValues;

/** Returns the fields of which another value was stored than was submitted, unless they were edited since. */
const changedBy = (stored: ReceiverValues, submitted: ReceiverValues, now: ReceiverValues): [Field, ReceiverValues[Field]][] =>
  (Object.keys(stored) as Field[])
    .filter((name) => String(stored[name]) !== String(submitted[name]) && String(now[name]) === String(submitted[name]))
    .map((name) => [name, stored[name]]);

/** Some refusals name no field, but are about the URL. */
function errorsOf(error: Error): Record<string, string> {
  const aboutUrl = ["not_https", "private_address", "chat_webhook", "duplicate_url"];
  if (error instanceof CallError && aboutUrl.includes(error.code)) return { url: error.message.replace(/^url /, "The URL ") };
  const { max_in_flight, ...errors } = fieldErrors(error);
  return { ...errors, ...(max_in_flight !== undefined && { maxInFlight: max_in_flight }) };
}

const ChatRelay = () => (
  <Notice>
    Run <GuideLink to="examples/relay">the relay</GuideLink> yourself, and register its own address here.
  </Notice>
);

/** Stands in the form when its person's session has ended: the page stays, for what is typed in it. */
const SignedOut = () => (
  <Notice tone="waiting">
    <div role="alert">
      You are signed out, and what you typed is not saved yet.{" "}
      <Anchor href="/sign-in" target="_blank" inherit underline="always">
        Sign in in a new tab
      </Anchor>
      , then come back: it is still here.
    </div>
  </Notice>
);
