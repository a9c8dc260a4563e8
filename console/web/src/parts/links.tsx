import { Anchor, Button, type AnchorProps, type ButtonProps } from "@mantine/core";
import { createLink } from "@tanstack/react-router";
import type { ReactNode } from "react";

/*
 * Mantine's looks for links within the console. Mantine's own `component` would look the same, but TypeScript does not check its path and
 * parameters: test/structure/sources.test.ts forbids it.
 */

interface LinkContent {
  readonly children?: ReactNode;
  onClick?(): void;
}

export const AnchorLink = createLink((props: AnchorProps & LinkContent) => <Anchor {...props} />);

/** Leads to a guide, by its path below /docs. In a tab of its own: what is typed, or shown once, stays. */
export const GuideLink = ({ to, children }: { readonly to: string; readonly children: ReactNode }) => (
  <Anchor href={`/docs/${to}`} target="_blank" inherit underline="always" children={children} />
);

export const ButtonLink = createLink((props: ButtonProps & LinkContent) => <Button component="a" {...props} />);
