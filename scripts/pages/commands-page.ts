import type { Command } from "../../server/src/operator/parse-command.ts";

/** Sections of docs/operate/commands.md, each with the page about it and the first words of its commands. */
const groups: readonly { readonly title: string; readonly page: string; readonly words: string }[] = [
  { title: "This machine", page: "first-steps", words: "doctor health migrate prepare firewall completion" },
  { title: "Hosts and GPUs", page: "hosts", words: "hosts gpus" },
  {
    title: "Orders and refunds",
    page: "payments",
    words: "orders order refunds refund decline disputes unflag revenue gateway-keys",
  },
  { title: "Environments", page: "orders", words: "environments environment" },
  { title: "Crypto mining", page: "mining", words: "mining" },
  { title: "Accounts", page: "accounts", words: "users user" },
  { title: "From and to Firebase", page: "hosted-sign-in", words: "identity" },
  { title: "Credits and vouchers", page: "credits", words: "credits vouchers" },
  { title: "Tickets and announcements", page: "orders", words: "tickets announce docs" },
  { title: "What is sold", page: "catalogue", words: "catalogue" },
  { title: "Backups", page: "backup", words: "backup restore" },
  { title: "Audit", page: "audit", words: "audit" },
  { title: "The console's accounts", page: "console", words: "operators" },
];

/** docs/operate/commands.md. A command whose first word is in no group stands in a section of its own. */
export function commandsPage(commands: readonly Command[]): string {
  const words = [...new Set(commands.map(wordOf))];
  const grouped = groups.flatMap((group) => group.words.split(" "));
  const own = words.filter((word) => !grouped.includes(word)).map((word) => ({ title: word, page: "", words: word }));
  const sections = [...groups, ...own].map((group) => {
    const listed = commands.filter((command) => group.words.split(" ").includes(wordOf(command)));
    return listed.length > 0 ? [sectionOf(group, listed)] : [];
  });
  return `<!-- This page is written by \`npm run docs\` from server/src/operator/commands.ts: never edit it. -->

# The commands

Typed on the server's machine, beside the running server and with its settings: \`npm run operator -- COMMAND\` in a
checkout, \`berth COMMAND\` where a ${link("install", "release")} is installed. \`COMMAND --help\` prints what stands here.
Into a file or another program: \`npm run --silent operator -- COMMAND\`, without npm's own lines.

| Typed | Meaning |
|---|---|
| \`WORD\` | what you type in its place; \`[WORD]\` may be left out, \`WORD...\` may be several |
| \`--json\` | the same for a program, with all fields |
| \`--reason TEXT\` | why, for the ${link("audit")}; where its owner is told, the owner reads it |
| \`--yes\` | does it; without it the command says what it would do |

| Exit code | Meaning |
|---|---|
| 0 | done |
| 1 | refused or failed, and one sentence says why; \`doctor\`, \`health\`, \`audit verify\` and \`backup verify\`: something is wrong |
| 2 | the command line is wrong; the usage follows |

${sections.flat().join("\n\n")}
`;
}

const link = (page: string, text = page.replaceAll("-", " ")) => `[${text}](${page}.md)`;
const wordOf = ({ name }: Command) => name.split(" ")[0] ?? "";

function sectionOf({ title, page }: (typeof groups)[number], commands: readonly Command[]): string {
  const rows = commands.map(
    (command) => `| ${code(usageOf(command))} | ${cell(command.about)}: ${code(command.example)} |`,
  );
  const more = page === "" ? [] : [`More about it: ${link(page)}.`];
  return [`## ${title}`, ...more, ["| Command | What it does, and an example |", "|---|---|", ...rows].join("\n")].join(
    "\n\n",
  );
}

function usageOf({ name, args, options = {} }: Command): string {
  const given = Object.entries(options).map(([key, value]) => `[--${key}${value && ` ${value}`}]`);
  return [name, ...args, ...given].join(" ");
}

/** In a table a bar would end the cell, in code too. */
const cell = (text: string) => text.replaceAll("|", "\\|");
const code = (text: string) => `\`${cell(text)}\``;
