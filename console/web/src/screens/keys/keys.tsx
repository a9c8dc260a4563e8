import type { Key } from "@brand-records/console-contract";
import { Button } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { getRouteApi } from "@tanstack/react-router";
import { useState, type ReactNode } from "react";
import { isGone } from "../../api/call.ts";
import { POLL_MS, useBrand, useRead } from "../../api/queries.ts";
import { Breakable } from "../../parts/breakable.tsx";
import { Lines, Rows, type Column } from "../../parts/rows.tsx";
import { loadedDialog } from "../../parts/loaded-part.tsx";
import { GuideLink } from "../../parts/links.tsx";
import { Page } from "../../parts/page.tsx";
import { NotLoaded, IN_ORDER, Pager } from "../../parts/paged-rows.tsx";
import { EmptyState, FormError, Hint, Notice } from "../../parts/states.tsx";
import { When } from "../../parts/when.tsx";
import { Eligibility, useMayIntegrate } from "../../parts/eligibility.tsx";

const CreateKey = loadedDialog(async () => (await import("./key-dialogs.tsx")).CreateKey);
const RevokeKey = loadedDialog(async () => (await import("./key-dialogs.tsx")).RevokeKey);

export default function Keys() {
  const { isOwner } = useBrand();
  const isEligible = useMayIntegrate();
  const { key: found, page } = getRouteApi("/shell/developers/keys").useSearch();
  const { data, error, refetch, isPlaceholderData } = useRead("keys.list", { page_token: page }, { scope: {}, refetchInterval: POLL_MS });
  const isElsewhere = found !== undefined && data !== undefined && data.keys.every(({ id }) => id !== found);
  const elsewhere = useRead("keys.list", { ids: [found ?? ""] }, { enabled: isElsewhere });
  const isUnknown = isElsewhere && (elsewhere.data?.keys.length === 0 || isGone(elsewhere.error));
  const [isCreating, creating] = useDisclosure(false);
  const [toRevoke, setToRevoke] = useState<Key>();
  const create = isOwner && isEligible && <Button onClick={creating.open}>Create key</Button>;

  let content: ReactNode = <NotLoaded error={error} refetch={refetch} param="page" first={IN_ORDER[0]} />;
  if (data !== undefined) {
    const keys = [...((isElsewhere && elsewhere.data?.keys) || []), ...data.keys];
    content = (
      <Pager label="Keys" param="page" page={page} next={data.next_page_token} isLoading={isPlaceholderData} links={IN_ORDER}>
        {isUnknown && (
          <Notice>
            None of this brand’s keys has the id <code>{found}</code>.
          </Notice>
        )}
        <KeyLists
          keys={keys}
          found={found}
          isFirst={page === undefined}
          isLast={data.next_page_token === null}
          create={create}
          onRevoke={isOwner ? setToRevoke : undefined}
        />
      </Pager>
    );
  }

  return (
    <Page of="keys" actions={data !== undefined && (page !== undefined || data.keys.some(isActive)) && create}>
      <Eligibility />
      {!isOwner && <Hint>Owners of the brand create and revoke keys.</Hint>}
      {content}
      <Hint>
        <GuideLink to="api">How to use a key</GuideLink>
      </Hint>
      {data !== undefined && <FormError error={error} />}
      {isCreating && <CreateKey onClose={creating.close} />}
      {toRevoke !== undefined && <RevokeKey apiKey={toRevoke} onClose={() => setToRevoke(undefined)} />}
    </Page>
  );
}

const isActive = ({ revoked_at }: Key): boolean => revoked_at === null;

interface KeyListsProps {
  readonly keys: readonly Key[];
  readonly found: string | undefined;
  /** Whether this is the first page, or the last. */
  readonly isFirst: boolean;
  readonly isLast: boolean;
  readonly create: ReactNode;
  readonly onRevoke: ((key: Key) => void) | undefined;
}

/** A page's keys: the first pages have those in use, revoked ones follow. */
function KeyLists({ keys, found, isFirst, isLast, create, onRevoke }: KeyListsProps) {
  const active = keys.filter(isActive);
  const revoked = keys.filter((key) => !isActive(key));
  const count = isFirst && isLast ? `${revoked.length} revoked ${revoked.length === 1 ? "key" : "keys"}` : "Revoked keys";
  return (
    <>
      {active.length === 0 && isFirst && (
        <EmptyState title={revoked.length === 0 ? "No keys yet" : "No active keys"} action={create}>
          Create a key for each system that reads your records: a report, a warehouse, an assistant.
        </EmptyState>
      )}
      {active.length > 0 && (
        <Rows label="Active keys" columns={activeColumns(onRevoke)} rows={active} keyOf={({ id }) => id} found={found} />
      )}
      {revoked.length > 0 && (
        <details className="folded" open={(active.length === 0 && !isFirst) || revoked.some(({ id }) => id === found)}>
          <summary style={{ padding: "0.5rem 0" }}>{count}</summary>
          <Rows label="Revoked keys" columns={REVOKED_COLUMNS} rows={revoked} keyOf={({ id }) => id} found={found} />
        </details>
      )}
    </>
  );
}

const NAME: Column<Key> = {
  title: "Name",
  cell: ({ name, hint }) => (
    <Lines>
      <strong>
        <Breakable of={name} />
      </strong>
      <code className="code quiet">{hint}</code>
    </Lines>
  ),
};

const PERMISSIONS: Readonly<Record<string, string>> = { "records:read": "Read records", "campaigns:prepare": "Prepare plans" };

const CREATED: Column<Key> = {
  title: "Created",
  cell: ({ created_at, created_by }) => (
    <Lines>
      <When at={created_at} />
      <Breakable of={created_by} />
    </Lines>
  ),
};

const activeColumns = (onRevoke: KeyListsProps["onRevoke"]): Column<Key>[] => [
  NAME,
  { title: "Permissions", cell: ({ permissions }) => permissions.map((permission) => PERMISSIONS[permission] ?? permission).join(", ") },
  CREATED,
  { title: "Last used", cell: ({ last_used_at }) => (last_used_at === null ? "No use recorded" : <When at={last_used_at} />) },
  ...(onRevoke === undefined
    ? []
    : [
        {
          title: "Revoke",
          isAction: true,
          cell: (key: Key) => (
            <Button variant="default" size="xs" onClick={() => onRevoke(key)} aria-label={`Revoke ${key.name}`}>
              Revoke
            </Button>
          ),
        },
      ]),
];

const REVOKED_COLUMNS: Column<Key>[] = [
  NAME,
  CREATED,
  {
    title: "Revoked",
    cell: ({ revoked_at, revoked_by }) => (
      <Lines>
        <When at={revoked_at} />
        {revoked_by !== null && <Breakable of={revoked_by} />}
      </Lines>
    ),
  },
];
