import { Code, List, Stack, Tabs, Text } from "@mantine/core";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { CopyableText } from "../../parts/copyable.tsx";
import { AnchorLink, ButtonLink, GuideLink } from "../../parts/links.tsx";
import { Page } from "../../parts/page.tsx";
import { Eligibility, useMayIntegrate } from "../../parts/eligibility.tsx";
import page from "../../../../../docs/assistants.md?raw";
import { clientsIn, environmentOf, type Client, type Place } from "./clients.ts";
import { useBrand, useMe } from "../../api/queries.ts";

/** Tabs of clients whose name is too long for one. */
const SHORT_NAMES: Readonly<Record<string, string>> = { typescript: "TypeScript", others: "Others" };

/** How to connect an assistant to this deployment. */
export default function Assistants() {
  const { client } = getRouteApi("/shell/developers/assistants").useSearch();
  const navigate = useNavigate();
  const { isOwner } = useBrand();
  const isEligible = useMayIntegrate();
  const { environment } = useMe();
  const place = { url: window.location.origin, key: `brk_${environment}_YOUR_KEY` };
  const clients = clientsIn(page, place);
  const shown = clients.find(({ id }) => id === client) ?? clients[0];
  const show = (id: string | null): void => {
    if (id !== null) void navigate({ to: "/developers/assistants", search: { client: id }, replace: true, resetScroll: false });
  };
  return (
    <Page of="assistants" actions={isOwner && isEligible && <ButtonLink to="/developers/keys">Create a key</ButtonLink>}>
      <Eligibility />
      <WhatItNeeds place={place} />
      <Tabs value={shown?.id ?? null} onChange={show} variant="pills" keepMounted={false}>
        <Tabs.List aria-label="Assistants" style={{ gap: "var(--space-4)" }}>
          {clients.map(({ id, name }) => (
            <Tabs.Tab key={id} value={id}>
              {SHORT_NAMES[id] ?? name}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {clients.map((one) => (
          <Tabs.Panel key={one.id} value={one.id} pt="lg">
            <Instructions client={one} place={place} />
          </Tabs.Panel>
        ))}
      </Tabs>
    </Page>
  );
}

function WhatItNeeds({ place: { url, key } }: { readonly place: Place }) {
  const { isOwner } = useBrand();
  return (
    <List maw="var(--line-length)" fz="sm" spacing="xs">
      <List.Item>
        The address: <Code>{`${url}/api/mcp`}</Code>
      </List.Item>
      <List.Item>
        <AnchorLink to="/developers/keys" inherit>
          An API key
        </AnchorLink>{" "}
        of its own, in place of <Code>{key}</Code> below.
        {!isOwner && " Ask an owner of your brand for one."} Any key can read; none can approve, fund, pay or publish anything.
      </List.Item>
      <List.Item>
        To prepare campaign plans too, a key that <strong>may prepare campaign plans</strong>: its permission is{" "}
        <Code>campaigns:prepare</Code>, chosen when the key is created. People complete the plans.
      </List.Item>
      <List.Item>
        <GuideLink to="assistants">The guide</GuideLink> says what the tools return, what can be asked, and what each error means.
      </List.Item>
    </List>
  );
}

function Instructions({ client: { name, examples, isProgram, note }, place }: { readonly client: Client; readonly place: Place }) {
  return (
    <Stack component="section" gap="lg" maw="52rem" aria-label={name}>
      {isProgram && <Example instruction="The program takes the address and the key from the environment:" text={environmentOf(place)} />}
      {examples.map((example) => (
        <Example key={example.instruction} {...example} />
      ))}
      {note !== "" && <Text size="sm">{note}</Text>}
      <Text size="sm" c="dimmed">
        A key is a secret: keep it in the environment or the client’s secret store, never in a file that gets committed. All of the brand’s
        keys share its rate limit.
      </Text>
    </Stack>
  );
}

function Example({ instruction, text }: Client["examples"][number]) {
  return (
    <div>
      <Text size="sm" mb="xs">
        {instruction}
      </Text>
      <CopyableText text={text} label={instruction.replace(/:$/, "")} />
    </div>
  );
}
