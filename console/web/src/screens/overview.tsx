import { Anchor, Text } from "@mantine/core";
import { useQueries } from "@tanstack/react-query";
import type { LinkProps } from "@tanstack/react-router";
import { query } from "../api/queries.ts";
import { CheckIcon } from "../parts/icons.tsx";
import { AnchorLink } from "../parts/links.tsx";
import { Page } from "../parts/page.tsx";
import { ErrorState, LoadingRows } from "../parts/states.tsx";
import { useBrand, useMe } from "../shell/brand.tsx";
import { Eligibility } from "./eligibility.tsx";
import styles from "./overview.module.css";

/** What is set up, and what is left to do. */
export function Overview() {
  const { ofBrand, tier, brand_name } = useBrand();
  const { rate_limits } = useMe();
  const [keys, receivers] = useQueries({
    queries: [query("keys.list", ofBrand), { ...query("receivers.list", ofBrand) }],
  });
  const failed = [keys, receivers].find(({ error }) => error !== null);
  const active = keys.data?.keys.filter(({ revoked_at }) => revoked_at === null);
  const limit = rate_limits[tier];
  return (
    <Page
      title="Developers"
      description={`Connect your own systems to ${brand_name}’s records.${limit === undefined ? "" : ` Your plan accepts ${limit} requests a minute.`}`}
    >
      <Eligibility />
      {failed?.error ? (
        <ErrorState error={failed.error} retry={() => void failed.refetch()} />
      ) : active === undefined || receivers.data === undefined ? (
        <LoadingRows />
      ) : (
        <ol className={styles["steps"]}>
          <Step isDone={active.length > 0} title="Create an API key" to="/developers/keys" link="API keys">
            A key lets one integration read this brand’s records.
          </Step>
          <Step isDone={active.some(({ last_used_at }) => last_used_at !== null)} title="Call the API" href="/docs" link="API reference">
            The first call shows here within a minute.
          </Step>
          <Step isDone={receivers.data.receivers.length > 0} title="Register a receiver" to="/developers/receivers" link="Receivers">
            Signed events go to an HTTPS address of yours when something is approved, rejected, paid or settled.
          </Step>
          <Step
            isDone={receivers.data.receivers.some(({ last_outcome }) => last_outcome === "accepted")}
            title="Have a test delivery accepted"
            to="/developers/receivers"
            link="Receivers"
          >
            A test shows that your receiver verifies the signature and responds with 2xx.
          </Step>
        </ol>
      )}
    </Page>
  );
}

interface StepProps {
  readonly isDone: boolean;
  readonly title: string;
  readonly link: string;
  readonly to?: NonNullable<LinkProps["to"]>;
  readonly href?: string;
  readonly children: string;
}

function Step({ isDone, title, link, to, href, children }: StepProps) {
  return (
    <li className={styles["step"]} data-done={isDone || undefined}>
      <span className={styles["mark"]} aria-hidden="true">
        {isDone && <CheckIcon size={16} />}
      </span>
      <div>
        <Text fw={600}>
          {title} <span className="visually-hidden">{isDone ? "(done)" : "(to do)"}</span>
        </Text>
        <Text size="sm" c="dimmed">
          {children}
        </Text>
        {to === undefined ? (
          <Anchor href={href} size="sm">
            {link}
          </Anchor>
        ) : (
          <AnchorLink to={to} size="sm">
            {link}
          </AnchorLink>
        )}
      </div>
    </li>
  );
}
