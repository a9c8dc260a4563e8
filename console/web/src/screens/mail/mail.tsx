import { Switch, Text } from "@mantine/core";
import { useBrand, useChange, useRead } from "../../api/queries.ts";
import { Page, Panel } from "../../parts/page.tsx";
import { announce, FormError, Hint, Loading, NotRead, Notice } from "../../parts/states.tsx";

const SWITCHES = [
  { name: "receivers", label: "Receivers", description: "One is paused for an hour, is disabled, or works again." },
  { name: "plans_and_keys", label: "Plans and keys", description: "A campaign plan waits for completion; a key was created or revoked." },
] as const;

/** What an owner gets mail of. Each switch takes effect at once. */
export default function Mail() {
  const { isOwner } = useBrand();
  return <Page of="mail">{isOwner ? <Switches /> : <Hint>Only owners of the brand get mail.</Hint>}</Page>;
}

function Switches() {
  const { brand_name } = useBrand();
  const { data, error, refetch } = useRead("mail.get", {});
  const change = useChange("mail.set", ["mail.get"]);
  if (data === undefined) return <NotRead error={error} refetch={refetch} loading={<Loading height={170} />} />;
  const pending = change.isPending ? change.variables : undefined;
  return (
    <Panel>
      {!data.sends_mail && <Notice>No mail is sent here, because this service has no mail server. Your choice is saved.</Notice>}
      <Text component="h2" fw={600} className="breakable">
        Mail about {brand_name}
      </Text>
      {SWITCHES.map(({ name, ...texts }) => (
        <Switch
          key={name}
          {...texts}
          checked={pending?.[name] ?? data[name]}
          onChange={({ currentTarget: { checked } }) =>
            change.make({ [name]: checked }, () => announce(`${texts.label}: ${checked ? "mail is sent" : "no mail is sent"}`))
          }
        />
      ))}
      <FormError error={change.error} unknownOutcome="It may have been changed all the same: the switch shows it." />
    </Panel>
  );
}
