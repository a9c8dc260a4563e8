import type { SignInFailure } from "@brand-records/console-contract";
import { ownPath } from "@brand-records/console-contract/own-path";
import { pageAt, PAGES } from "@brand-records/console-contract/pages";
import { Anchor, Button, Code, Stack, Text } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, useLocation, useRouter } from "@tanstack/react-router";
import { useEffect, useEffectEvent } from "react";
import { query } from "../../api/queries.ts";
import { onSignIn, returnPath } from "../../api/return-to.ts";
import { unpinTab } from "../../api/tab.ts";
import iconUrl from "../../icon.svg";
import { Page } from "../../parts/page.tsx";
import { ErrorState, FormError, Hint, Loading, NotRead } from "../../parts/states.tsx";
import { call, CallError } from "../../api/call.ts";
import { failureOf, SignInFailed } from "./sign-in-failure.tsx";
import styles from "./sign-in.module.css";

/**
 * Signs in: with the link whose token is this page's fragment, or leads to the provider, or says how to get a link. The fragment is never
 * in a request's URL, and the link is used up only by the button, so that previews of the link use nothing up.
 */
export default function SignIn() {
  // The router knows of each change: a link pasted into a tab that shows this page changes the fragment alone.
  const token = useLocation({ select: ({ hash }) => hash });
  return (
    <main className={styles["screen"]}>
      <Stack className="framed" gap="lg" w="min(26rem, 100%)" p="xl" bg="var(--mantine-color-body)">
        <img src={iconUrl} alt="" width={40} height={40} />
        {token === "" ? <HowToSignIn /> : <SignInByLink key={token} token={token} />}
      </Stack>
    </main>
  );
}

function SignInByLink({ token }: { readonly token: string }) {
  const { data, error } = useQuery({ ...query("sign_in.peek", { token }), staleTime: Number.POSITIVE_INFINITY });
  const redeem = useMutation({ mutationFn: () => call("sign_in.redeem", { token }) });
  const enter = useEnter();
  if (error !== null) return <UnusableLink error={error} />;
  // What ended while the page was open, such as the membership.
  if (redeem.error !== null && titleOf(redeem.error) !== undefined) return <UnusableLink error={redeem.error} />;
  return (
    <Page of="signIn">
      {data === undefined ? (
        <Loading height={42} />
      ) : (
        <Stack>
          {data.brand_name !== null && (
            <Text>
              This link opens <strong>{data.brand_name}</strong> only.
            </Text>
          )}
          <Button
            size="md"
            fullWidth
            classNames={{ label: styles["wrap"] ?? "" }}
            h="auto"
            py="sm"
            loading={redeem.isPending || redeem.isSuccess}
            onClick={() => redeem.mutate(undefined, { onSuccess: enter })}
          >
            Sign in as {data.email}
          </Button>
          <Hint>The link works once. Not you? Close this page: nothing has been used up.</Hint>
          <FormError error={redeem.error} />
        </Stack>
      )}
    </Page>
  );
}

/** Returns what opens the page that the person came for. */
function useEnter(): () => void {
  const { return_to } = getRouteApi("/sign-in").useSearch();
  const router = useRouter();
  const client = useQueryClient();
  return () => {
    unpinTab();
    // The link that this page shows would be read again, and it is used now.
    client.removeQueries({ predicate: ({ queryKey: [name] }) => name !== "sign_in.peek" });
    router.history.replace(returnPath(return_to));
  };
}

const TITLES: Readonly<Record<string, string>> = {
  sign_in_link_used: "This link was used already",
  sign_in_link_expired: "This link has expired",
  sign_in_link_unknown: "This link is not known",
  invalid_request: "This link is not complete",
  no_membership: "You are not a member of a brand",
};

const titleOf = (error: Error): string | undefined => (error instanceof CallError ? TITLES[error.code] : undefined);

function UnusableLink({ error }: { readonly error: Error }) {
  const title = titleOf(error);
  if (title === undefined) {
    return (
      <Page of="signIn">
        <ErrorState error={error} retry={() => window.location.reload()} />
      </Page>
    );
  }
  return (
    <Page title={title}>
      {(error as CallError).code === "no_membership" ? <Text>{error.message}</Text> : <WaysToSignIn />}
      <Anchor href="/developers">Continue if you are signed in</Anchor>
    </Page>
  );
}

function HowToSignIn() {
  const search = getRouteApi("/sign-in").useSearch();
  const failure = failureOf(search);
  const enter = useEffectEvent(useEnter());
  useEffect(() => onSignIn(() => enter()), []);
  const page = search.return_to === undefined ? undefined : pageAt(new URL(search.return_to, window.location.href).pathname);
  return (
    <Page of="signIn">
      {page !== undefined && <Hint>You then go to: {PAGES[page.name].title}.</Hint>}
      {failure !== undefined && <SignInFailed failure={failure} />}
      <WaysToSignIn failed={failure?.error} />
    </Page>
  );
}

function WaysToSignIn({ failed }: { readonly failed?: SignInFailure | undefined }) {
  const { data, error, refetch } = useQuery(query("sign_in.options", {}));
  if (error !== null || data === undefined) return <NotRead error={error} refetch={refetch} loading={<Loading height={42} />} />;
  return (
    <>
      {data.provider !== null && <SignInWithProvider name={data.provider} failed={failed} />}
      {data.links && <NewLink />}
    </>
  );
}

/** A link: the page's policy stops a form whose response redirects to the provider. */
function SignInWithProvider({ name, failed }: { readonly name: string; readonly failed: SignInFailure | undefined }) {
  const { return_to } = getRouteApi("/sign-in").useSearch();
  const href = `/auth/sign-in?${new URLSearchParams({ return_to: ownPath(return_to) }).toString()}`;
  return (
    <>
      <Button component="a" href={href} size="md" fullWidth classNames={{ label: styles["wrap"] ?? "" }} h="auto" py="sm">
        Sign in with {name}
      </Button>
      {failed !== undefined && OF_ACCOUNT.has(failed) && <Anchor href={`${href}&account=other`}>Use another account</Anchor>}
    </>
  );
}

/** The provider remembers the account: without asking for another, a person would be refused again and again. */
const OF_ACCOUNT: ReadonlySet<SignInFailure> = new Set(["access_denied", "email_not_verified", "no_membership", "identity_conflict"]);

function NewLink() {
  return (
    <Stack gap="xs">
      <Text>Open the sign-in link that you were given. Each works once.</Text>
      <Hint>
        Need one? An owner of your brand makes it, under “Members”. For owners the operator of this service makes one with{" "}
        <Code>brandctl members link EMAIL</Code>.
      </Hint>
    </Stack>
  );
}
