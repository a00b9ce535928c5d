import { type CSSVariablesResolver, createTheme, type MantineColorsTuple } from "@mantine/core";

/**
 * Color shows state. Surfaces and text use one sea-grey scale; buttons are ink; the accent (live) marks things that are
 * running, free, paid or active. Every text color has a contrast of at least 4.5:1 on canvas, raised, sunken and its wash.
 */
const light = {
  canvas: "#fbfcfc",
  raised: "#ffffff",
  sunken: "#f3f5f5",
  line: "#e3e7e8",
  "line-strong": "#c9d1d3",
  ink: "#0f1517",
  "ink-2": "#49555a",
  "ink-3": "#647075",
  live: "#0a8f6c",
  "live-ink": "#0a6f56",
  "live-wash": "#e4f5ef",
  wait: "#2f74dd",
  "wait-ink": "#1d5bb8",
  "wait-wash": "#e9f1fd",
  hold: "#b97a00",
  "hold-ink": "#855600",
  "hold-wash": "#fbf2de",
  fail: "#d0382c",
  "fail-ink": "#b0281d",
  "fail-wash": "#fdecea",
  shadow: "0 1px 2px rgb(15 21 23 / 6%), 0 12px 32px -8px rgb(15 21 23 / 16%)",
};

const dark: typeof light = {
  canvas: "#0b0e10",
  raised: "#12171a",
  sunken: "#07090b",
  line: "#20272b",
  "line-strong": "#38434a",
  ink: "#e8edee",
  "ink-2": "#a4b0b5",
  "ink-3": "#84929a",
  live: "#2fce9f",
  "live-ink": "#4fdcb2",
  "live-wash": "#0d2a22",
  wait: "#5b9dff",
  "wait-ink": "#8ebcff",
  "wait-wash": "#11213a",
  hold: "#e0a526",
  "hold-ink": "#efc064",
  "hold-wash": "#2a200c",
  fail: "#f2594b",
  "fail-ink": "#ff9d93",
  "fail-wash": "#341513",
  shadow: "0 0 0 1px rgb(255 255 255 / 4%), 0 16px 40px -8px rgb(0 0 0 / 70%)",
};

/** Filled buttons, checkboxes and radios: near-black on light, near-white on dark. */
const ink: MantineColorsTuple = [
  "#e8edee",
  "#cdd5d8",
  "#a4b0b5",
  "#84929a",
  "#647075",
  "#49555a",
  "#38434a",
  "#2a3337",
  "#20292d",
  "#0f1517",
];

const live: MantineColorsTuple = [
  "#e4f5ef",
  "#c4ecde",
  "#8fddc2",
  "#4fdcb2",
  "#2fce9f",
  "#17b386",
  "#0a8f6c",
  "#0a7f60",
  "#0a6f56",
  "#075543",
];

/** Mantine draws light borders, placeholders and disabled states from gray. */
const gray: MantineColorsTuple = [
  "#f8fafa",
  "#f3f5f5",
  "#e3e7e8",
  "#d6dcde",
  "#c9d1d3",
  "#8f9a9e",
  "#647075",
  "#49555a",
  "#2a3337",
  "#0f1517",
];

/** Mantine draws dark text (0), borders (4), inputs (6) and body (7) from dark. */
const darkRamp: MantineColorsTuple = [
  "#e8edee",
  "#c6cfd3",
  "#a4b0b5",
  "#84929a",
  "#2b343a",
  "#20272b",
  "#12171a",
  "#0b0e10",
  "#090c0d",
  "#07090b",
];

const prefixed = (palette: typeof light) =>
  Object.fromEntries(Object.entries(palette).map(([name, value]) => [`--${name}`, value]));

export const cssVariables: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    ...prefixed(light),
    "--mantine-color-body": light.canvas,
    "--mantine-color-text": light.ink,
    "--mantine-color-dimmed": light["ink-2"],
    "--mantine-color-placeholder": "#6b777c",
    "--mantine-color-error": light["fail-ink"],
    "--mantine-color-default": light.raised,
    "--mantine-color-default-hover": light.sunken,
    "--mantine-color-default-border": light["line-strong"],
    "--mantine-color-anchor": light.ink,
  },
  dark: {
    ...prefixed(dark),
    "--mantine-color-body": dark.canvas,
    "--mantine-color-text": dark.ink,
    "--mantine-color-dimmed": dark["ink-2"],
    "--mantine-color-placeholder": "#84929a",
    "--mantine-color-error": dark["fail-ink"],
    "--mantine-color-default": dark.raised,
    "--mantine-color-default-hover": "#1a2125",
    "--mantine-color-default-border": dark["line-strong"],
    "--mantine-color-anchor": dark.ink,
  },
});

const sans = "'Geist Variable', 'Geist Fallback', 'Geist Fallback DejaVu', system-ui, sans-serif";

export const theme = createTheme({
  primaryColor: "ink",
  primaryShade: { light: 9, dark: 0 },
  autoContrast: true,
  black: light.ink,
  colors: { ink, live, gray, dark: darkRamp },
  fontFamily: sans,
  fontFamilyMonospace: "'Geist Mono Variable', ui-monospace, 'SF Mono', Menlo, monospace",
  fontSizes: { xs: "12px", sm: "13px", md: "14px", lg: "16px", xl: "20px" },
  lineHeights: { xs: "1.4", sm: "1.45", md: "1.5", lg: "1.5", xl: "1.4" },
  spacing: { xs: "8px", sm: "12px", md: "16px", lg: "24px", xl: "40px" },
  radius: { xs: "2px", sm: "4px", md: "6px", lg: "8px", xl: "12px" },
  defaultRadius: "md",
  headings: {
    fontFamily: sans,
    fontWeight: "600",
    sizes: {
      h1: { fontSize: "24px", lineHeight: "1.2" },
      h2: { fontSize: "16px", lineHeight: "1.4" },
      h3: { fontSize: "14px", lineHeight: "1.4" },
    },
  },
  cursorType: "pointer",
  respectReducedMotion: true,
  components: {
    Checkbox: { defaultProps: { iconColor: "var(--mantine-color-body)" } },
    // Dropdowns are not portalled, so that they stay inside their landmark and next in the tab order.
    Menu: { defaultProps: { withinPortal: false, withInitialFocusPlaceholder: false } },
    Popover: { defaultProps: { withinPortal: false } },
    Radio: { defaultProps: { iconColor: "var(--mantine-color-body)" } },
    Select: { defaultProps: { comboboxProps: { withinPortal: false } } },
    Switch: { defaultProps: { withThumbIndicator: false } },
    Tooltip: { defaultProps: { withinPortal: false } },
    TableScrollContainer: {
      defaultProps: { scrollAreaProps: { viewportProps: { tabIndex: 0 } } },
    },
  },
});
