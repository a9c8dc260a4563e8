import { Anchor } from "@mantine/core";
import { Notice } from "../../parts/states.tsx";

/** Stands in a form whose person's session has ended: the page stays, for what is typed in it. */
export const SignedOut = () => (
  <Notice tone="warning">
    <div role="alert">
      You are signed out, and what you typed is not saved yet.{" "}
      <Anchor href="/sign-in" target="_blank" inherit underline="always">
        Sign in in a new tab
      </Anchor>
      , then come back: it is still here.
    </div>
  </Notice>
);
