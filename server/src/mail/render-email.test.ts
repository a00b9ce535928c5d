import { expect, test } from "vitest";
import { renderEmail } from "./render-email.ts";
import { resetEmail } from "./reset-email.ts";

const link = "https://berth.example/reset-password?oobCode=a-b_c";
const reset = (name: string | null, brandName = "Berth") => resetEmail({ brandName, name, link });

test("text and HTML have the same content and link", () => {
  const { subject, text, html } = reset("Ada Park");
  expect(subject).toBe("Reset your Berth password");
  for (const words of ["Hello Ada Park,", "within 1 hour", "do nothing: your password stays as it is", link]) {
    expect(text).toContain(words);
    expect(html).toContain(words);
  }
  expect(html).toContain(`href="${link}"`);
  expect(html).not.toMatch(/<(script|img|link)|url\(/);
});

test.each([
  ["Ada Park", "Hello Ada Park,"],
  ["  Ada \n Park ", "Hello Ada Park,"],
  ["Dr. J.R. O'Neil", "Hello Dr. J.R. O'Neil,"],
  ["Zoë 王 🚢", "Hello Zoë 王 🚢,"],
  ["a\u202edetrevni", "Hello adetrevni,"],
  [null, "Hello,"],
  ["", "Hello,"],
  ["x".repeat(61), "Hello,"],
  ["Free money at evil.example", "Hello,"],
  ["https://evil.example", "Hello,"],
  ["mail me@evil.example", "Hello,"],
  ["<b>Ada</b>", "Hello,"],
  ["<script>alert(1)</script>", "Hello,"],
])("the greeting for %s is %s", (name, greeting) => {
  expect(reset(name).text.split("\n")[0]).toBe(greeting);
});

test("user input is escaped, and a subject is one line", () => {
  const letter = renderEmail({
    brandName: `<i>"B"&'C'</i>`,
    name: "A & B's",
    subject: "One\r\nBcc: everybody@example.com",
    paragraphs: ["<img src=x>"],
    button: { label: "<u>", url: `https://berth.example/?a=1&b="><script>` },
    footnotes: ["<s>"],
  });
  expect(letter.subject).toBe("One Bcc: everybody@example.com");
  expect(letter.html).toContain("Hello A &#38; B&#39;s,");
  expect(letter.html).not.toMatch(/<(i|img|u|s|script)[ >]/);
  expect(letter.text).toContain("<img src=x>");
});
