import { createTheme, type CSSVariablesResolver, type MantineColorsTuple, type ModalProps } from "@mantine/core";

const pine: MantineColorsTuple = [
  "#e9f8f4",
  "#d3ede6",
  "#a5dccd",
  "#74cab3",
  "#4cba9d",
  "#33b08f",
  "#1f9a7c",
  "#0b6e5f",
  "#095f52",
  "#034d42",
];

/** Mantine's greys of the dark scheme, from text to the darkest ground, with a little blue. */
const dark: MantineColorsTuple = [
  "#d3dae0",
  "#b6c0c9",
  "#96a1ac",
  "#7a8691",
  "#3a444d",
  "#303940",
  "#1f262c",
  "#14181c",
  "#101417",
  "#0c0f12",
];

const FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif';

/** Mantine gives the header of a dialog the role `banner`, which a page may have once. */
const withoutBanner = { attributes: { header: { role: "presentation" } } };

export const theme = createTheme({
  primaryColor: "pine",
  // White text on it has a contrast of 6:1 in both schemes.
  primaryShade: 7,
  colors: { pine, dark },
  defaultRadius: "md",
  fontFamily: FONT,
  fontFamilyMonospace: 'ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, monospace',
  headings: {
    fontFamily: FONT,
    fontWeight: "650",
    sizes: { h1: { fontSize: "1.5rem", lineHeight: "1.25" }, h2: { fontSize: "1.0625rem" } },
  },
  cursorType: "pointer",
  components: {
    // Hints stand below what they are about, as those of boxes do.
    InputWrapper: { defaultProps: { inputWrapperOrder: ["label", "input", "error", "description"] } },
    // Without `Modal.extend`, which only types it: the first page needs no dialog, which is a sixth of its scripts.
    Modal: {
      styles: { title: { fontSize: "1.125rem", fontWeight: 650 } },
      defaultProps: { ...withoutBanner, centered: true, transitionProps: { duration: 0 }, closeButtonProps: { "aria-label": "Close" } },
    } satisfies { styles: ModalProps["styles"]; defaultProps: Partial<ModalProps> },
  },
});

/** Mantine's defaults for secondary text and errors fall short of WCAG's 4.5:1. */
export const cssVariables: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    "--mantine-color-dimmed": "#56606b",
    "--mantine-color-error": "#b3261e",
    "--mantine-color-anchor": "#0b6e5f",
    "--mantine-color-placeholder": "#6b7480",
  },
  dark: {
    "--mantine-color-dimmed": "#a3adb8",
    "--mantine-color-error": "#ff8a80",
    "--mantine-color-anchor": "#5fd0b4",
    "--mantine-color-placeholder": "#8e98a3",
  },
});
