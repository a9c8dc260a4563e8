import { PAGES, type PageName } from "@brand-records/console-contract/pages";
import { Group, Stack, Text } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useLayoutEffect, useRef, type ReactElement, type ReactNode } from "react";
import { endFirstReads } from "../api/first-reads.ts";
import { AnchorLink } from "./links.tsx";
import { bringIntoView } from "./result-in-view.ts";
import styles from "./page.module.css";

let isFirstPage = true;
/** What the page before was about, unless that was loading: the end of its path, as a plan's type may change. */
let subjectBefore: string | undefined;

/** Gives the heading the focus, unless the browser has loaded the page. */
function useFocusedHeading(isLoading: boolean) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    const subject = window.location.pathname.split("/").at(-1);
    // The router scrolls where a navigation leads. Without one, the page is what a change has made of the page before.
    const isResult = subject === subjectBefore;
    subjectBefore = isLoading ? undefined : subject;
    // The switcher keeps it: the keyboard chooses the next brand. So does a dialog that was opened while the page was loading.
    const mayTake = document.activeElement?.closest("select, [role=dialog]") == null;
    if (!isFirstPage && mayTake) {
      if (isResult) bringIntoView(heading.current);
      else heading.current?.focus({ preventScroll: true });
    }
    isFirstPage = false;
  }, []);
  return heading;
}

/** The first page takes the place of the frame that came with the HTML, and from then on its queries read as ever. */
function useEndOfFrame(): void {
  const client = useQueryClient();
  // Before the page is painted.
  useLayoutEffect(() => document.querySelector(".first")?.remove(), []);
  // After the effects of the screen around it, which decide what it reads.
  useEffect(() => void setTimeout(() => endFirstReads(client)), [client]);
}

interface PageProps {
  /** The page whose title and description it has, unless the others say more. */
  readonly of?: PageName;
  /** The heading and the document's title. */
  readonly title?: string;
  readonly description?: ReactNode;
  /** Above the heading: where the page belongs, a list or a link to it. */
  readonly parent?: "receivers" | "events" | "requests" | "plans" | ReactElement;
  readonly actions?: ReactNode;
  /** It stands for a page whose record is not read yet. */
  readonly isLoading?: boolean;
  readonly children: ReactNode;
}

/** A screen: its heading, which takes the focus when it shows in place of another, what it does, and its content. */
export function Page({ of, parent, actions, isLoading = false, children, ...texts }: PageProps) {
  const { title, description }: Pick<PageProps, "title" | "description"> = { ...(of && PAGES[of]), ...texts };
  const heading = useFocusedHeading(isLoading);
  useEndOfFrame();
  return (
    <Stack gap="lg">
      <title>{`${title} · Brand Records`}</title>
      <Group justify="space-between" align="flex-end" gap="md">
        <div className="breakable">
          {typeof parent === "string" ? (
            <AnchorLink to={PAGES[parent].path} size="sm">
              {PAGES[parent].title}
            </AnchorLink>
          ) : (
            parent
          )}
          <Text component="h1" ref={heading} tabIndex={-1} className="page-title breakable" dir="auto" fz="h1" lh="h1" fw={650}>
            {title}
          </Text>
          {description !== undefined && (
            <Text c="dimmed" mt={4} fz="var(--size-intro)" lh={1.5}>
              {description}
            </Text>
          )}
        </div>
        {actions}
      </Group>
      {children}
    </Stack>
  );
}

/** What stands in a frame of its own, one thing below the other. */
export const Panel = ({ children, labelledBy }: { readonly children: ReactNode; readonly labelledBy?: string }) => (
  <Stack component="section" className={`${styles["panel"]} framed`} gap="lg" miw={0} aria-labelledby={labelledBy}>
    {children}
  </Stack>
);
