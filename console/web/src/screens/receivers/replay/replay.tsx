import type { Receiver } from "@brand-records/console-contract";
import { getRouteApi } from "@tanstack/react-router";
import { POLL_MS, useBrand, useRead } from "../../../api/queries.ts";
import { FormError, Hint, LoadingRows, Notice, NotRead } from "../../../parts/states.tsx";
import { ReceiverPage } from "../receiver-page.tsx";
import { ReplayProgress } from "./replay-progress.tsx";
import { StartReplay } from "./start-replay.tsx";

const RUNNING_POLL_MS = 1_000;

/** Sends events to a receiver again. The service runs the replay: it goes on without this page, and shows again after a reload. */
export default function Replay() {
  const { receiverId } = getRouteApi("/shell/developers/receivers/$receiverId/replay").useParams();
  return (
    <ReceiverPage receiverId={receiverId} title={({ label }) => `Replay to ${label}`}>
      {(receiver) => <ReplayOf receiver={receiver} />}
    </ReceiverPage>
  );
}

function ReplayOf({ receiver }: { readonly receiver: Receiver }) {
  const { isOwner } = useBrand();
  const { data, error, refetch } = useRead(
    "replays.latest",
    { receiver_id: receiver.id },
    { refetchInterval: ({ state: { data } }) => (data?.replay?.finished_at === null ? RUNNING_POLL_MS : POLL_MS) },
  );
  if (data === undefined) return <NotRead error={error} refetch={refetch} loading={<LoadingRows rows={2} />} />;
  const { replay } = data;
  const isRunning = replay !== null && replay.finished_at === null;
  return (
    <>
      <FormError error={error} />
      {!receiver.enabled && (
        <Notice tone="warning">This receiver is disabled. What a replay queues is held until an owner enables the receiver.</Notice>
      )}
      {replay !== null && <ReplayProgress key={replay.id} replay={replay} receiver={receiver} />}
      {!isOwner ? (
        <Hint>Owners of the brand start replays. {replay === null && "This receiver has had none in the last 30 days."}</Hint>
      ) : isRunning ? (
        <Hint>A receiver has one replay at a time. Another one can start when this one ends.</Hint>
      ) : (
        <StartReplay receiver={receiver} />
      )}
    </>
  );
}
