import type { RunProcess } from "../../drivers/driver.ts";

/** Programs whose only use is mining, by the name of their file without an ending. Names that mean something else too are left out. */
const programs: ReadonlySet<string> = new Set([
  ...["bfgminer", "bzminer", "ccminer", "cgminer", "claymore", "cpuminer", "cpuminer-opt", "cryptodredge"],
  ...["ethdcrminer64", "ethminer", "gminer", "kawpowminer", "lolminer", "minerd", "miniz", "multipoolminer"],
  ...["nanominer", "nbminer", "nheqminer", "nicehashminer", "nsfminer", "onezerominer", "phoenixminer", "progpowminer"],
  ...["rigelminer", "sgminer", "srbminer", "srbminer-multi", "t-rex", "teamredminer", "teamblackminer", "trexminer"],
  ...[
    "wildrig",
    "wildrig-multi",
    "xmr-stak",
    "xmr-stak-rx",
    "xmrig",
    "xmrig-cuda",
    "xmrig-notls",
    "xmrigdaemon",
    "z-enemy",
  ],
]);

/** Domains of pools. Their web pages are no mining: a port that is none of the web's must follow. */
const pools: readonly string[] = [
  ...["2miners.com", "antpool.com", "braiins.com", "c3pool.com", "c3pool.org", "cruxpool.com", "ethermine.org"],
  ...["f2pool.com", "flexpool.io", "flypool.org", "hashcity.org", "hashvault.pro", "herominers.com", "hiveon.net"],
  ...["k1pool.com", "kryptex.network", "luxor.tech", "mining-dutch.nl", "miningocean.org", "miningpoolhub.com"],
  ...[
    "minexmr.com",
    "moneroocean.stream",
    "nanopool.org",
    "nicehash.com",
    "poolin.com",
    "prohashing.com",
    "ravenminer.com",
  ],
  ...[
    "slushpool.com",
    "sparkpool.com",
    "supportxmr.com",
    "unmineable.com",
    "viabtc.com",
    "woolypooly.com",
    "zergpool.com",
  ],
  ...["zpool.ca"],
];

const webPorts: ReadonlySet<string> = new Set(["80", "443", "8080", "8443"]);
/** The protocols of pools. */
const stratum = /\b(?:stratum\d?(?:\+(?:tcp|ssl|tls|udp))?|ethproxy\+\w+|daemon\+http|zilproxy\+\w+):\/\/[\w.-]+/i;
const interpreters = /^(?:sh|bash|dash|zsh|nohup|sudo|env|nice|setsid|timeout|python[\d.]*|node|perl)$/;
/** Of a command line: its owner's text may have megabytes, which every pass would read. */
const mostLetters = 32_768;
/** They name a miner without running it. */
const readers: ReadonlySet<string> = new Set([
  "cat",
  "less",
  "more",
  "grep",
  "rg",
  "vim",
  "vi",
  "nano",
  "tail",
  "head",
  "find",
  "ls",
  "tar",
  "unzip",
  "git",
  "pip",
  "apt",
]);

export interface Mining {
  /** Name of a known miner. */
  readonly program: string | undefined;
  /** The kernel names that program, not only the command line, which the owner's code can write. */
  readonly isExecuted: boolean;
  readonly pool: string | undefined;
}

/**
 * A known miner or pool in one process; undefined for anything else. A name is matched whole, never as a part of a word. What
 * an interpreter runs is a word of its command line only (G305).
 */
export function minerIn({ command, program }: Pick<RunProcess, "command" | "program">): Mining | undefined {
  const words = command.slice(0, mostLetters).split(/\s+/).filter(Boolean);
  const names = words.map(fileName);
  const [first = ""] = names;
  const executed = program && fileName(program.replace(/ \(deleted\)$/, ""));
  const isExecuted = executed !== undefined && programs.has(executed);
  const isOfSystem = program === undefined || !program.startsWith("/") || /^\/(?:usr\/)?s?bin\//.test(program);
  if (readers.has(first) && isOfSystem && !isExecuted) return undefined;
  const run = names.find((name, index) => !interpreters.test(name) && !words[index]?.startsWith("-"));
  const known = [isExecuted ? executed : undefined, first, run].find(
    (name) => name !== undefined && programs.has(name),
  );
  const pool =
    stratum.exec(command.slice(0, mostLetters))?.[0] ?? words.map(poolIn).find((found) => found !== undefined);
  return known === undefined && pool === undefined ? undefined : { program: known, isExecuted, pool };
}

/** "/opt/x/XMRig.exe" is "xmrig". */
function fileName(word: string): string {
  return (word.split("/").at(-1) ?? "").toLowerCase().replace(/\.(?:exe|bin|sh|py)$/, "");
}

/**
 * "pool.supportxmr.com:3333" of a word such as "--url=pool.supportxmr.com:3333". It is split, because a pattern of host and port
 * tries each letter of a long word as the first one (G326).
 */
function poolIn(word: string): string | undefined {
  const parts = word.toLowerCase().split(":");
  if (/^https?$/.test(parts[0] ?? "")) return undefined;
  for (const [index, part] of parts.entries()) {
    const [port] = /^\d{2,5}\b/.exec(parts[index + 1] ?? "") ?? [];
    if (port === undefined || webPorts.has(port)) continue;
    const host = part.split(/[^\w.-]/).at(-1) ?? "";
    if (pools.some((pool) => host === pool || host.endsWith(`.${pool}`))) return `${host}:${port}`;
  }
  return undefined;
}
