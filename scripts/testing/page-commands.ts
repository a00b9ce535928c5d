/**
 * The commands in the shell blocks of a Markdown page, in their order. A continued line is one command with the next, and so
 * is a here-document with its end; a comment at the end stays.
 */
export function pageCommands(page: string): readonly string[] {
  const blocks = [...page.matchAll(/^```(\w*)\n(.*?)^```/gms)];
  return blocks.flatMap(([, language = "", code = ""]) => (/^(sh)?$/.test(language) ? commandsIn(code) : []));
}

function commandsIn(code: string): readonly string[] {
  const commands: string[] = [];
  let end: string | undefined;
  for (const line of code.replaceAll(/\s*\\\n\s*/g, " ").split("\n")) {
    if (end !== undefined) commands.push(`${commands.pop()}\n${line}`);
    else if (!/^\s*(#|$)/.test(line)) commands.push(line.trim());
    end = end === undefined ? /<<'?(\w+)'?/.exec(line)?.[1] : line === end ? undefined : end;
  }
  return commands;
}
