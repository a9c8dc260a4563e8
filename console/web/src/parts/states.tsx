import { Anchor, Box, Button, Stack, Text } from "@mantine/core";
import type { ReactNode } from "react";
import { flushSync } from "react-dom";
import { CallError, fieldErrors, isUncertain } from "../api/call.ts";
import { createStore } from "../api/store.ts";
import { Id } from "./id.tsx";
import styles from "./states.module.css";

interface EmptyStateProps {
  readonly title: string;
  readonly children: ReactNode;
  readonly action?: ReactNode;
}

/** What a list says before it has anything. */
export function EmptyState({ title, children, action }: EmptyStateProps) {
  return (
    <Stack
      className={styles["empty"] ?? ""}
      align="center"
      gap="var(--space-8)"
      p="var(--space-48) var(--space-20)"
      bd="1px dashed var(--mantine-color-default-border)"
      bdrs="lg"
      ta="center"
    >
      <Text component="h2" fw={600}>
        {title}
      </Text>
      <Text c="dimmed" maw={460}>
        {children}
      </Text>
      {action}
    </Stack>
  );
}

/** What could not be loaded, why, and how to try again. */
export function ErrorState({ error, retry }: { readonly error: Error; retry?(): void }) {
  return (
    <div className={styles["error"]} data-tone="bad" role="alert">
      <Text fw={600}>{error instanceof CallError ? error.message : "This page has failed."}</Text>
      {error instanceof CallError && error.requestId !== undefined && <RequestId id={error.requestId} />}
      {retry === undefined ? (
        <Anchor href="/">Start again</Anchor>
      ) : (
        <Button variant="default" size="xs" onClick={retry}>
          Try again
        </Button>
      )}
    </div>
  );
}

export interface FormErrorProps {
  readonly error: Error | null;
  /** Names of the fields that show their own errors. */
  readonly fields?: readonly string[];
  /** What to do about a change that may have been made: no response came. */
  readonly unknownOutcome?: string;
}

/** The error of a form or a dialog, unless its fields show it. */
export function FormError({ error, fields = [], unknownOutcome }: FormErrorProps) {
  if (error === null) return null;
  const shown = Object.keys(fieldErrors(error));
  if (shown.length > 0 && shown.every((field) => fields.includes(field))) return null;
  return (
    <div className={styles["error"]} data-tone="bad" role="alert">
      <Text size="sm">{error.message}</Text>
      {unknownOutcome !== undefined && isUncertain(error) && <Text size="sm">{unknownOutcome}</Text>}
      {error instanceof CallError && error.requestId !== undefined && <RequestId id={error.requestId} />}
    </div>
  );
}

export function RequestId({ id }: { readonly id: string }) {
  return (
    <Text size="xs" c="dimmed">
      Request id <Id id={id} />
    </Text>
  );
}

interface NoticeProps {
  readonly tone?: "note" | "waiting" | "good";
  /** It holds more than prose, such as buttons at its end. */
  readonly isWide?: boolean;
  readonly children: ReactNode;
}

/** A place for information that needs attention, or of a change that went well. */
export function Notice({ tone = "note", isWide = false, children }: NoticeProps) {
  return (
    <Box className="breakable" p="var(--space-12) var(--space-16)" bdrs="md" fz="sm" bg="var(--ground)" data-tone={tone}>
      <div className={isWide ? undefined : "prose"}>{children}</div>
    </Box>
  );
}

/** What is said beside the point. */
export const Hint = ({ children }: { readonly children: ReactNode }) => (
  <Text size="sm" c="dimmed">
    {children}
  </Text>
);

/** What an element that stands for what is loading says. A name needs a role. */
export const LOADING = { "aria-busy": true, "aria-label": "Loading", role: "group" } as const;

/** Stands for something that is loading, as high as that, so that what follows stays where it is. */
export function Loading({ height }: { readonly height: number }) {
  return <Box {...LOADING} h={height} bdrs="md" bg="var(--pointed)" />;
}

/** Rows that are loading. */
export function LoadingRows({ rows = 4 }: { readonly rows?: number }) {
  return (
    <Stack {...LOADING} gap="xs">
      {Array.from({ length: rows }, (_, index) => (
        <Box key={index} h={44} bdrs="md" bg="var(--pointed)" />
      ))}
    </Stack>
  );
}

/**
 * Shows problems at their fields, and gives the first of these fields the keyboard's focus: with it the problem is read out. In an open
 * dialog, or else on the page.
 */
export function showProblems(show: () => void): void {
  // The focus must find the problem there: it is read once.
  flushSync(show);
  const dialogs = document.querySelectorAll("[role=dialog][aria-modal=true]");
  const within = dialogs.item(dialogs.length - 1) ?? document;
  within.querySelector<HTMLElement>(":is(input, select, textarea):is([data-error], [data-error] *)")?.focus();
}

interface NotReadProps {
  readonly error: Error | null;
  refetch(): unknown;
  /** What shows while it loads. Default: rows. */
  readonly loading?: ReactNode;
}

/** In place of what a query has not returned: it loads, or has failed. */
export const NotRead = ({ error, refetch, loading = <LoadingRows /> }: NotReadProps) =>
  error === null ? loading : <ErrorState error={error} retry={() => void refetch()} />;

const status = createStore("");

/** Tells people who do not see the page what has happened, such as "Key revoked". */
export function announce(text: string): void {
  // The same text twice is read twice only if the region changes.
  status.set(text === status.get() ? `${text}\u00A0` : text);
}

/** The page's only live region. */
export const StatusRegion = () => (
  <div className="visually-hidden" role="status">
    {status.use()}
  </div>
);
