import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import { Announced } from "./announced.tsx";

test("each notice has its words, and says whether every account has it", () => {
  const notice = { title: "Prices change", body: "One GPU is $0.30 an hour then.", created_at: "2026-11-20T12:00:00Z" };
  const announced = [
    { ...notice, done: false },
    { ...notice, title: "Terms change", done: true },
  ];
  const rows = renderToStaticMarkup(<Announced announced={announced} />).split("<tr>");
  expect(rows.at(-2)).toMatch(/Prices change.*One GPU is \$0\.30.*Being sent/);
  expect(rows.at(-1)).toMatch(/Terms change.*Sent/);
});
