import type { Receiver } from "@brand-records/console-contract";
import { Button } from "@mantine/core";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { POLL_MS, useBrand, useRead } from "../../../api/queries.ts";
import { FormError, Hint, LoadingRows, Notice, NotRead } from "../../../parts/states.tsx";
import { useResultInView } from "../../../parts/result-in-view.ts";
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
  const [started, setStarted] = useState<string>();
  const [isAgain, setIsAgain] = useState(false);
  const result = useResultInView(started);
  const { data, error, refetch } = useRead(
    "replays.latest",
    { receiver_id: receiver.id },
    { refetchInterval: (read) => (read?.replay?.finished_at === null ? RUNNING_POLL_MS : POLL_MS) },
  );
  if (data === undefined) return <NotRead error={error} refetch={refetch} loading={<LoadingRows rows={2} />} />;
  const { replay } = data;
  const isRunning = replay !== null && replay.finished_at === null;
  return (
    <>
      <FormError error={error} />
      {!receiver.enabled && (
        <Notice tone="waiting">This receiver is disabled. What a replay queues is held until an owner enables the receiver.</Notice>
      )}
      {replay !== null && (
        <div ref={result} tabIndex={-1} className="page-title">
          <ReplayProgress key={replay.id} replay={replay} receiver={receiver} />
        </div>
      )}
      {!isOwner ? (
        <Hint>Owners of the brand start replays. {replay === null && "This receiver has had none in the last 30 days."}</Hint>
      ) : isRunning ? (
        <Hint>A receiver has one replay at a time. Another one can start when this one ends.</Hint>
      ) : replay !== null && replay.id === started && !isAgain ? (
        // What has run is not armed again.
        <Button variant="default" size="xs" style={{ alignSelf: "flex-start" }} onClick={() => setIsAgain(true)}>
          Send other events again
        </Button>
      ) : (
        <StartReplay
          receiver={receiver}
          onStarted={(replayId) => {
            setStarted(replayId);
            setIsAgain(false);
          }}
        />
      )}
    </>
  );
}
