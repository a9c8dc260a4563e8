import type { Member } from "@brand-records/console-contract";
import { Button, Group, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense, useState, type ReactNode } from "react";
import { query } from "../../api/queries.ts";
import { Page } from "../../parts/page.tsx";
import { Rows, type Column } from "../../parts/rows.tsx";
import { ErrorState, LoadingRows } from "../../parts/states.tsx";
import { When } from "../../parts/when.tsx";
import { useBrand, useMe } from "../../shell/brand.tsx";
import styles from "../keys/keys.module.css";
import { roleText } from "./roles.ts";

const AddMember = lazy(() => import("./add-member.tsx"));
const ChangeRole = lazy(() => import("./change-role.tsx"));
const NewLink = lazy(() => import("./new-link.tsx"));
const RemoveMember = lazy(() => import("./remove-member.tsx"));

/** What an owner does to a member. */
type Act = "role" | "link" | "remove";
type Open = { readonly act: "add" } | { readonly act: Act; readonly member: Member };

/** Who works on the brand. Owners change it. */
export function Members() {
  const { ofBrand, isOwner } = useBrand();
  const { email } = useMe();
  const { data, error, refetch } = useQuery(query("members.list", ofBrand));
  const signIn = useQuery(query("sign_in.options", {})).data;
  const [open, setOpen] = useState<Open>();
  const close = (): void => setOpen(undefined);

  let content: ReactNode = <LoadingRows />;
  if (data !== undefined) {
    const change = isOwner ? (act: Act, member: Member) => setOpen({ act, member }) : undefined;
    content = (
      <Rows label="Members" columns={columns(email, signIn?.links === true, change)} rows={data.members} keyOf={(row) => row.email} />
    );
  } else if (error !== null) content = <ErrorState error={error} retry={() => void refetch()} />;

  return (
    <Page
      title="Members"
      description="Owners manage keys, receivers and members. Members see them, and work on campaign plans."
      actions={isOwner && <Button onClick={() => setOpen({ act: "add" })}>Add member</Button>}
    >
      {!isOwner && (
        <Text size="sm" c="dimmed">
          Owners of the brand add and remove members.
        </Text>
      )}
      {content}
      <Suspense>{open !== undefined && isOwner && <Dialog open={open} close={close} />}</Suspense>
    </Page>
  );
}

function Dialog({ open, close }: { readonly open: Open; close(): void }) {
  if (open.act === "add") return <AddMember onClose={close} />;
  const props = { member: open.member, onClose: close };
  if (open.act === "role") return <ChangeRole {...props} />;
  return open.act === "link" ? <NewLink {...props} /> : <RemoveMember {...props} />;
}

/** @param change undefined for a member, who only looks */
function columns(self: string, hasLinks: boolean, change: ((act: Act, member: Member) => void) | undefined): Column<Member>[] {
  const button = (act: Act, member: Member, text: string): ReactNode => (
    <Button variant="default" size="xs" onClick={() => change?.(act, member)} aria-label={`${text}: ${member.email}`}>
      {text}
    </Button>
  );
  return [
    {
      title: "E-mail address",
      cell: ({ email }) => (
        <span className={styles["by"]}>
          <strong>{email}</strong>
          {email === self && <span>You</span>}
        </span>
      ),
    },
    { title: "Role", cell: ({ role }) => <span className={styles["unbroken"]}>{roleText(role)}</span> },
    { title: "Since", cell: ({ created_at }) => <When at={created_at} /> },
    ...(change === undefined
      ? []
      : [
          {
            title: "Change",
            isAction: true,
            cell: (member: Member) => (
              <Group gap={4} justify="flex-end" wrap="nowrap">
                {hasLinks && member.email !== self && button("link", member, "New link")}
                {button("role", member, "Change role")}
                {button("remove", member, member.email === self ? "Leave" : "Remove")}
              </Group>
            ),
          },
        ]),
  ];
}
