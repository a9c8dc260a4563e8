import { Box } from "@mantine/core";
import { useRouter, type ErrorComponentProps } from "@tanstack/react-router";
import { useEffect, type ComponentProps } from "react";
import { CallError, isGone } from "../api/call.ts";
import { ButtonLink } from "../parts/links.tsx";
import { Page } from "../parts/page.tsx";
import { EmptyState, ErrorState, NotRead } from "../parts/states.tsx";

/** A path or a record that does not exist, or that is another brand's. */
export function NotFoundPage() {
  return (
    <Box maw="60rem" mx="auto" w="100%" py="xl">
      <Page title="Not found">
        <EmptyState title="Nothing is here" action={<ButtonLink to="/developers">Go to the overview</ButtonLink>}>
          The page does not exist, or it belongs to a brand that you are not a member of.
        </EmptyState>
      </Page>
    </Box>
  );
}

interface NotReadPageProps extends Pick<ComponentProps<typeof Page>, "of" | "parent"> {
  readonly error: Error | null;
  refetch(): unknown;
}

/** In place of the page of a record that has not been read: it loads, does not exist, or has failed. */
export function NotReadPage({ error, refetch, ...page }: NotReadPageProps) {
  if (isGone(error)) return <NotFoundPage />;
  return (
    <Page {...page} isLoading>
      <NotRead error={error} refetch={refetch} />
    </Page>
  );
}

/** What a screen shows that failed to load or to render. The shell around it stays. */
export function ErrorPage({ error, reset }: ErrorComponentProps) {
  const router = useRouter();
  const retry = (): void => {
    reset();
    void router.invalidate();
  };
  return (
    <Box maw="60rem" mx="auto" w="100%" py="xl">
      <Page title="This page could not be shown">
        <ErrorState error={error instanceof Error ? error : new Error(String(error))} retry={retry} />
      </Page>
    </Box>
  );
}

/** In place of a screen whose script could not be loaded. It loads by itself once the browser is connected. */
export function OfflinePage({ retry }: { retry(): void }) {
  useEffect(() => {
    addEventListener("online", retry);
    return () => removeEventListener("online", retry);
  }, [retry]);
  return (
    <Page title="This page is not loaded yet">
      <ErrorState error={OFFLINE} retry={retry} />
    </Page>
  );
}

const OFFLINE = new CallError({
  code: "unreachable",
  message: "You are offline, and this page was not opened before. It shows as soon as you are connected.",
});
