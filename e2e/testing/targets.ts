import { expect, type Frame, type Page } from "@playwright/test";

/** Minimum size of every target (WCAG 2.5.8). */
const minPx = 24;
/** Minimum size of targets on a phone, except inside a line of text. */
const phonePx = 40;

/** Checks the size of every target in every frame. */
export async function expectTargets(page: Page, name: string, phone: boolean): Promise<void> {
  const found = await Promise.all(page.frames().map((frame) => tooSmall(frame, phone ? phonePx : minPx)));
  expect.soft(found.flat(), `${name}: targets too small`).toEqual([]);
}

/** Descriptions of targets that are too small. Links in a sentence are exempt (2.5.8, inline); in a line of text `minPx` applies. */
function tooSmall(frame: Frame, alone: number): Promise<string[]> {
  return frame.evaluate(
    ([minPx, phonePx]) => {
      const pressed = "a[href], button, input, select, textarea, summary, [role=tab], [role=option], [role=menuitem]";
      const isVisible = (element: Element) =>
        element.checkVisibility({ visibilityProperty: true }) && !element.closest("[inert], [aria-hidden=true]");
      /** The bounding box of the element and its labels. */
      const boxOf = (element: Element) => {
        const boxes = [element, ...((element as HTMLInputElement).labels ?? [])].map((one) =>
          one.getBoundingClientRect(),
        );
        const edge = (side: "top" | "left" | "right" | "bottom", pick: (...all: number[]) => number) =>
          pick(...boxes.filter(({ width }) => width > 0).map((box) => box[side]));
        return {
          width: edge("right", Math.max) - edge("left", Math.min),
          height: edge("bottom", Math.max) - edge("top", Math.min),
          bottom: edge("bottom", Math.max),
        };
      };
      /** Whether its parent has other text. */
      const hasTextBeside = (element: Element) => {
        const around = element.parentElement?.cloneNode(true) as Element;
        for (const own of around.querySelectorAll("a, button")) own.remove();
        return (around.textContent ?? "").replace(/[\s·|]/g, "") !== "";
      };
      const isPlain = ({ borderTopWidth, backgroundColor, display }: CSSStyleDeclaration) =>
        borderTopWidth === "0px" && /, 0\)$|^transparent/.test(backgroundColor) && /^inline/.test(display);
      const leastOf = (element: Element) => {
        const style = getComputedStyle(element);
        if (style.display === "inline" && hasTextBeside(element)) return 0;
        const inLine = hasTextBeside(element) || element.closest("p, td, th, dd, li, strong") !== null;
        return isPlain(style) && inLine ? minPx : phonePx;
      };
      return [...document.querySelectorAll(pressed)].filter(isVisible).flatMap((element) => {
        const { width, height, bottom } = boxOf(element);
        const least = leastOf(element);
        if (bottom <= 0 || width <= 1) return [];
        if (Math.min(width, height) >= least - 0.5) return [];
        const label = element.getAttribute("aria-label") ?? element.textContent?.trim().slice(0, 40) ?? "";
        const kind = element.tagName.toLowerCase();
        return [`${kind} "${label}" ${width.toFixed(0)}x${height.toFixed(0)} instead of ${least}`];
      });
    },
    [minPx, alone] as const,
  );
}
