import { mayExtend } from "@berth/contract";
import { actionTexts } from "../../environments/actions/action-texts.ts";
import { extendParam } from "../../environments/actions/extend-param.ts";
import { buttonsOf, canStop, type Environment } from "../../environments/lifecycle/environment.ts";

export interface Command {
  readonly group: "Go to" | "Environments" | "Actions" | "General";
  readonly label: string;
  readonly run: () => void;
}

/** What a command can do; the palette gives it. */
export interface CommandActs {
  readonly go: (path: string) => void;
  /** A page outside of the app. */
  readonly leave: (path: string) => void;
  readonly act: (environment: Environment, action: "pause" | "stop" | "restart" | "start") => void;
  readonly openSession: (environment: Environment) => void;
  readonly switchScheme: () => void;
  readonly showKeys: () => void;
  readonly logout: () => void;
}

const screens = [
  ["Dashboard", "/dashboard"],
  ["Environments", "/environments"],
  ["Create New Environment", "/environments/create"],
  ["Billing", "/billing"],
  ["Payment History", "/billing?tab=invoices"],
  ["Support", "/support"],
  ["Settings", "/settings"],
] as const;

/** Everything that the palette offers: screens, environments by name, and what can be done with each. */
export function commandsOf(environments: readonly Environment[], acts: CommandActs): readonly Command[] {
  const to = (group: Command["group"], label: string, path: string): Command => ({
    ...{ group, label },
    run: () => acts.go(path),
  });
  return [
    ...screens.map(([label, path]) => to("Go to", label, path)),
    { group: "Go to", label: "Documentation", run: () => acts.leave("/docs") },
    ...environments.map(({ id, name }) => to("Environments", name, `/environments/${id}`)),
    ...environments.flatMap((environment) => actionsOf(environment, acts)),
    { group: "General", label: "Switch between light and dark", run: acts.switchScheme },
    { group: "General", label: "Keyboard shortcuts", run: acts.showKeys },
    { group: "General", label: "Logout", run: acts.logout },
  ];
}

/** Nothing that cannot be undone. */
function actionsOf(environment: Environment, acts: CommandActs): readonly Command[] {
  const { id, name, subdomain, status } = environment;
  const group = "Actions" as const;
  const buttons = buttonsOf(environment).filter(
    (action) => (action !== "stop" || canStop(environment)) && (action !== "pause" || environment.can_pause),
  );
  return [
    // Without a name there is no address to open (G303).
    ...(status === "active" && subdomain !== ""
      ? [{ group, label: `Open Session of ${name}`, run: () => acts.openSession(environment) }]
      : []),
    ...buttons.map((action) => ({
      ...{ group, label: `${actionTexts[action].label} ${name}` },
      run: () => acts.act(environment, action),
    })),
    ...(mayExtend[status]
      ? [{ group, label: `Add time to ${name}`, run: () => acts.go(`/environments/${id}?${extendParam}=${id}`) }]
      : []),
  ];
}

/** Those that have every word of the text. Without a text no single environment's actions, of which there may be hundreds. */
export function matchingCommands(commands: readonly Command[], text: string, most: number): readonly Command[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return commands.filter(({ group }) => group !== "Actions").slice(0, most);
  const has = ({ label }: Command) => words.every((word) => label.toLowerCase().includes(word));
  return commands.filter(has).slice(0, most);
}
