import type { Member } from "@brand-records/console-contract";
import { Button, Group } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState, type ReactNode } from "react";
import { POLL_MS, query, useBrand, useMe, useRead } from "../../api/queries.ts";
import { Breakable } from "../../parts/breakable.tsx";
import { Lines, type Column } from "../../parts/rows.tsx";
import { loadedDialog } from "../../parts/loaded-part.tsx";
import { Page } from "../../parts/page.tsx";
import { PagedRows, IN_ORDER } from "../../parts/paged-rows.tsx";
import { useIsSecretShown } from "../../parts/shown-secrets.ts";
import { When } from "../../parts/when.tsx";
import { roleText } from "./roles.ts";
import { Hint } from "../../parts/states.tsx";

const AddMember = loadedDialog(async () => (await import("./add-member.tsx")).AddMember);
const ChangeRole = loadedDialog(async () => (await import("./change-member.tsx")).ChangeRole);
const LastOwner = loadedDialog(async () => (await import("./change-member.tsx")).LastOwner);
const LeaveBrand = loadedDialog(async () => (await import("./change-member.tsx")).LeaveBrand);
const NewLink = loadedDialog(async () => (await import("./add-member.tsx")).NewLink);
const RemoveMember = loadedDialog(async () => (await import("./change-member.tsx")).RemoveMember);

/** What an owner does to a member. Every member can leave. */
const DIALOGS = { role: ChangeRole, link: NewLink, remove: RemoveMember, leave: LeaveBrand };
type Act = keyof typeof DIALOGS;
type Open = { readonly act: "add" } | { readonly act: Act; readonly member: Member };

/** Who works on the brand. Owners change it. */
export default function Members() {
  const { isOwner } = useBrand();
  const { email, limited_to } = useMe();
  const { page } = getRouteApi("/shell/developers/members").useSearch();
  const result = useRead("members.list", { ...(page && { page_token: page }) }, { scope: {}, refetchInterval: POLL_MS });
  const { data } = result;
  const signIn = useQuery(query("sign_in.options", {}));
  const [open, setOpen] = useState<Open>();
  const close = (): void => setOpen(undefined);
  const isSecretShown = useIsSecretShown();
  // A role that is lost closes what only owners do, and does not open it again when it returns.
  if (open !== undefined && open.act !== "leave" && !isOwner && !isSecretShown) setOpen(undefined);
  // One page of several says nothing of other owners.
  const isWhole = page === undefined && data?.next_page_token === null;
  const isLastOwner = isOwner && isWhole && data.members.filter(({ role }) => role === "owner").length === 1;
  const change = (act: Act, member: Member): void => setOpen({ act, member });
  // A session that an owner’s link opened makes no links.
  const seen = { self: email, isOwner, hasLinks: signIn.data?.links === true && limited_to === null };

  return (
    <Page of="members" actions={isOwner && <Button onClick={() => setOpen({ act: "add" })}>Add member</Button>}>
      {!isOwner && <Hint>Owners of the brand add and remove members.</Hint>}
      <PagedRows
        label="Members"
        // Which buttons a row has depends on both: none may come between the others later.
        result={signIn.isPending ? { ...result, data: undefined } : result}
        rowsOf={({ members }) => members}
        nextOf={({ next_page_token }) => next_page_token}
        page={page}
        isFiltered={false}
        links={IN_ORDER}
        none={null}
        columns={columns(seen, change)}
        keyOf={(row) => row.email}
      />
      {open !== undefined && <OpenDialog open={open} isLastOwner={isLastOwner} close={close} />}
    </Page>
  );
}

interface OpenDialogProps {
  readonly open: Open;
  /** Whether the person is the brand's only owner, as far as the list knows. The service knows better, and refuses. */
  readonly isLastOwner: boolean;
  close(): void;
}

function OpenDialog({ open, isLastOwner, close }: OpenDialogProps) {
  const { email } = useMe();
  if (open.act === "add") return <AddMember onClose={close} />;
  // The role of the open row is as it was at the press; another's may have changed since.
  if (isLastOwner && open.member.email === email) return <LastOwner act={open.act} onClose={close} />;
  const Dialog = DIALOGS[open.act];
  return <Dialog member={open.member} onClose={close} />;
}

interface Seen {
  readonly self: string;
  readonly isOwner: boolean;
  readonly hasLinks: boolean;
}

function columns({ self, isOwner, hasLinks }: Seen, change: (act: Act, member: Member) => void): Column<Member>[] {
  const button = (act: Act, member: Member, text: string): ReactNode => (
    <Button variant="default" size="xs" onClick={() => change(act, member)} aria-label={`${text}: ${member.email}`}>
      {text}
    </Button>
  );
  return [
    {
      title: "E-mail address",
      cell: ({ email }) => (
        <Lines>
          <strong>
            <Breakable of={email} />
          </strong>
          {email === self && <span>You</span>}
        </Lines>
      ),
    },
    { title: "Role", cell: ({ role }) => <span style={{ whiteSpace: "nowrap" }}>{roleText(role)}</span> },
    { title: "Since", cell: ({ created_at }) => <When at={created_at} /> },
    {
      title: "Change",
      isAction: true,
      cell: (member: Member) => {
        const isSelf = member.email === self;
        return (
          (isOwner || isSelf) && (
            <Group gap={4} justify="flex-end" wrap="nowrap">
              {isOwner && hasLinks && !isSelf && button("link", member, "New link")}
              {isOwner && button("role", member, "Change role")}
              {isSelf ? button("leave", member, "Leave") : button("remove", member, "Remove")}
            </Group>
          )
        );
      },
    },
  ];
}
