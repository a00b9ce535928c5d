import { escapeHtml } from "../text/escape-html.ts";

/** The content of a mail, as plain text; `renderEmail` escapes it for HTML. */
interface Content {
  readonly brandName: string;
  /** As the user typed it: untrusted. */
  readonly name: string | null;
  readonly subject: string;
  readonly paragraphs: readonly string[];
  readonly button?: { readonly label: string; readonly url: string };
  /** Paragraphs after the button, in small type. */
  readonly footnotes: readonly string[];
}

export interface Email {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/** One column, no images, no remote resources. Text and HTML have the same content. */
export function renderEmail(content: Content): Email {
  const { brandName, subject, button, footnotes } = content;
  const paragraphs = [greeting(content.name), ...content.paragraphs];
  const text = [...paragraphs, ...(button ? [`${button.label}:\n${button.url}`] : []), ...footnotes, brandName];
  const html = [
    `<p style="margin:0 0 24px;font-weight:600">${escapeHtml(brandName)}</p>`,
    ...paragraphs.map((each) => `<p style="margin:0 0 16px">${escapeHtml(each)}</p>`),
    ...(button ? buttonOf(button) : []),
    ...footnotes.map(
      (each) => `<p style="margin:0 0 8px;font-size:13px;line-height:20px;color:#49555a">${escapeHtml(each)}</p>`,
    ),
  ];
  return { subject: oneLine(subject), text: `${text.join("\n\n")}\n`, html: page(subject, html) };
}

function buttonOf({ label, url }: { label: string; url: string }): string[] {
  const address = escapeHtml(url);
  return [
    `<p style="margin:24px 0"><a href="${address}" style="display:inline-block;padding:10px 18px;border-radius:6px;background:#0f1517;color:#fbfcfc;font-weight:500;text-decoration:none">${escapeHtml(label)}</a></p>`,
    `<p style="margin:0 0 16px;font-size:13px;line-height:20px;color:#49555a;overflow-wrap:anywhere">If the button does nothing, open this address:<br><a href="${address}" style="color:#49555a">${address}</a></p>`,
  ];
}

function page(title: string, parts: readonly string[]): string {
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escapeHtml(title)}</title></head>
<body style="margin:0;background:#fbfcfc;color:#0f1517;font:15px/24px system-ui,-apple-system,'Segoe UI',Roboto,Arial,sans-serif">
<div style="max-width:480px;margin:0 auto;padding:32px 24px">
${parts.join("\n")}
</div>
</body>
</html>
`;
}

/**
 * Anybody can sign up with somebody else's address and any name: a name that contains a URL or bidirectional control
 * characters is not repeated in our mails.
 */
function greeting(name: string | null): string {
  const clean = oneLine(name ?? "");
  const isPlain = clean !== "" && clean.length <= 60 && !/[/@\\<>]|www\.|\.\p{L}{2,}/iu.test(clean);
  return isPlain ? `Hello ${clean},` : "Hello,";
}

function oneLine(text: string): string {
  return text
    .replace(/[\u202a-\u202e\u2066-\u2069]/g, "")
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, " ")
    .trim();
}
