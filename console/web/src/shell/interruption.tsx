import { Button, Stack } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { useState, type ReactNode } from "react";
import { chooseBrand, useTab } from "../api/tab.ts";
import { Page } from "../parts/page.tsx";
import { UnsavedText } from "../parts/unsaved-text.tsx";
import { forgetUnsaved, unsavedOf } from "../api/unsaved.ts";
import { useMe } from "../api/queries.ts";
import { announce } from "../parts/states.tsx";

/**
 * Shows instead of the page once it can show its brand to its person no longer, so that nothing of the page is done in another brand or by
 * another person. It returns by itself if the person does.
 */
export default function Interruption() {
  const { email } = useMe();
  const tab = useTab();
  return tab.email === email ? <LeftBrand key={tab.brand_id} /> : <OtherPerson key={email} />;
}

function LeftBrand() {
  const { memberships, limited_to } = useMe();
  const { brand_name } = useTab();
  const navigate = useNavigate();
  return (
    <Interrupted
      title={limited_to === null ? `You are no longer a member of ${brand_name}` : `This session does not show ${brand_name}`}
      text={
        limited_to === null
          ? "An owner has removed you, you have left, or the brand was deleted. Choose what this tab shows now."
          : "It began with a link of an owner, which opens one brand only."
      }
    >
      {memberships.map((brand) => (
        <BigButton
          key={brand.brand_id}
          onClick={() => {
            forgetUnsaved();
            // The page's record, filter or part of a list means nothing in another brand.
            void navigate({ to: "/developers" }).then(() => {
              chooseBrand(brand);
              announce(`Showing ${brand.brand_name}`);
            });
          }}
        >
          Show {brand.brand_name}
        </BigButton>
      ))}
    </Interrupted>
  );
}

function OtherPerson() {
  const { email } = useMe();
  const tab = useTab();
  return (
    <Interrupted
      title={`${email} is signed in now`}
      text={`This tab showed ${tab.brand_name} to ${tab.email}. To go on with it, sign in as ${tab.email} again in another tab, then come back.`}
    >
      {/* Everything that was read goes with the page. */}
      <BigButton onClick={() => window.location.reload()}>Continue as {email}</BigButton>
    </Interrupted>
  );
}

/** Names and addresses may be one long word. */
const BigButton = ({ onClick, children }: { readonly children: ReactNode; onClick(): void }) => (
  <Button
    variant="default"
    h="auto"
    mih={36}
    py={6}
    styles={{ label: { whiteSpace: "normal", overflowWrap: "anywhere", lineHeight: 1.4 } }}
    onClick={onClick}
  >
    {children}
  </Button>
);

function Interrupted({ title, text, children }: { readonly title: string; readonly text: string; readonly children: ReactNode }) {
  const { brand_id } = useTab();
  const [unsaved] = useState(() => unsavedOf(brand_id));
  return (
    <Page title={title} description={text}>
      <Stack align="flex-start" gap="sm">
        {children}
      </Stack>
      {Object.keys(unsaved).length > 0 && <UnsavedText texts={unsaved} reason="You were editing a plan." />}
    </Page>
  );
}
