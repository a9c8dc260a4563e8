import type { Receiver } from "@brand-records/console-contract";
import { Link } from "@tanstack/react-router";
import { Fragment, type ReactNode } from "react";
import { isGone } from "../../api/call.ts";
import { POLL_MS, useRead } from "../../api/queries.ts";
import { LIVE_MS } from "../../parts/deliveries/polling.ts";
import { isSending } from "../../parts/receivers/waiting-progress.ts";
import { ReceiverLabel } from "../../parts/dialog.tsx";
import { Page } from "../../parts/page.tsx";
import { FormError } from "../../parts/states.tsx";
import { NotReadPage } from "../../shell/error-pages.tsx";
import styles from "./receiver-page.module.css";
import { WaitingPanel } from "./waiting-panel.tsx";

interface ReceiverPageProps {
  readonly receiverId: string;
  /** The heading. */
  title(receiver: Receiver): string;
  actions?(receiver: Receiver): ReactNode;
  children(receiver: Receiver): ReactNode;
}

/** One of the pages of a receiver, with links to the others. */
export function ReceiverPage({ receiverId, title, actions, children }: ReceiverPageProps) {
  const { data, error, refetch } = useRead(
    "receivers.get",
    { receiver_id: receiverId },
    { refetchInterval: (read) => (read && isSending(read.receiver) ? LIVE_MS : POLL_MS) },
  );
  // It may be deleted while the page shows it.
  if (data === undefined || isGone(error)) return <NotReadPage of="receiver" parent="receivers" error={error} refetch={refetch} />;
  const { receiver } = data;
  return (
    <ReceiverLabel value={receiver.label}>
      <Page title={title(receiver)} parent="receivers" actions={actions?.(receiver)}>
        <Tabs receiverId={receiver.id} />
        <FormError error={error} />
        {/* The state of a form is one receiver's. */}
        <Fragment key={receiver.id}>
          <WaitingPanel receiver={receiver} />
          {children(receiver)}
        </Fragment>
      </Page>
    </ReceiverLabel>
  );
}

function Tabs({ receiverId }: { readonly receiverId: string }) {
  const params = { receiverId };
  return (
    <nav aria-label="Receiver" className={styles["tabs"]}>
      <Link to="/developers/receivers/$receiverId" params={params} activeOptions={{ exact: true, includeSearch: false }}>
        Deliveries
      </Link>
      <Link to="/developers/receivers/$receiverId/replay" params={params}>
        Replay
      </Link>
      <Link to="/developers/receivers/$receiverId/settings" params={params}>
        Settings
      </Link>
    </nav>
  );
}
