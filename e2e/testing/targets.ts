import { expect, type Frame, type Page } from "@playwright/test";

/** WCAG 2.5.8 for all of them. */
const leastPx = 24;
/** On a phone, for what stands alone: a finger has no pointer (look 6). */
const alonePx = 40;

/** Everything that can be pressed is large enough to be hit; in every frame. */
export async function expectTargets(page: Page, name: string, phone: boolean): Promise<void> {
  const found = await Promise.all(page.frames().map((frame) => tooSmall(frame, phone ? alonePx : leastPx)));
  expect.soft(found.flat(), `${name}: too small to be hit`).toEqual([]);
}

/** Named with their size. A link within a sentence is as high as its line (2.5.8, inline); what stands in a line of text has the least. */
function tooSmall(frame: Frame, alone: number): Promise<string[]> {
  return frame.evaluate(
    ([leastPx, alonePx]) => {
      const pressed = "a[href], button, input, select, textarea, summary, [role=tab], [role=option], [role=menuitem]";
      const isSeen = (element: Element) =>
        element.checkVisibility({ visibilityProperty: true }) && !element.closest("[inert], [aria-hidden=true]");
      /** A choice is pressed by its label too. */
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
      /** Words beside it, in the element that it stands in. */
      const hasWordsBeside = (element: Element) => {
        const around = element.parentElement?.cloneNode(true) as Element;
        for (const own of around.querySelectorAll("a, button")) own.remove();
        return (around.textContent ?? "").replace(/[\s·|]/g, "") !== "";
      };
      const isPlain = ({ borderTopWidth, backgroundColor, display }: CSSStyleDeclaration) =>
        borderTopWidth === "0px" && /, 0\)$|^transparent/.test(backgroundColor) && /^inline/.test(display);
      const leastOf = (element: Element) => {
        const style = getComputedStyle(element);
        if (style.display === "inline" && hasWordsBeside(element)) return 0;
        const inLine = hasWordsBeside(element) || element.closest("p, td, th, dd, li, strong") !== null;
        return isPlain(style) && inLine ? leastPx : alonePx;
      };
      return [...document.querySelectorAll(pressed)].filter(isSeen).flatMap((element) => {
        const { width, height, bottom } = boxOf(element);
        const least = leastOf(element);
        if (bottom <= 0 || width <= 1) return [];
        if (Math.min(width, height) >= least - 0.5) return [];
        const words = element.getAttribute("aria-label") ?? element.textContent?.trim().slice(0, 40) ?? "";
        const kind = element.tagName.toLowerCase();
        return [`${kind} "${words}" ${width.toFixed(0)}x${height.toFixed(0)} instead of ${least}`];
      });
    },
    [leastPx, alone] as const,
  );
}
