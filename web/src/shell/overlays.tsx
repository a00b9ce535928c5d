import { Modal, useMantineColorScheme } from "@mantine/core";
import { Search } from "lucide-react";
import { type KeyboardEvent, useId, useRef, useState } from "react";
import { useNavigate } from "react-router";
import { permitOpening } from "../api/open-permits.ts";
import { useConfig } from "../api/product-config.ts";
import { useSession } from "../api/session.ts";
import { useActions } from "../environments/actions/use-actions.ts";
import { useEnvironments } from "../environments/list/use-environments.ts";
import { environmentAddress } from "../format.ts";
import { type Command, commandsOf, matchingCommands } from "./commands/commands-of.ts";
import { ShortcutsDialog } from "./commands/shortcuts-dialog.tsx";
import type { Overlay } from "./commands/use-shortcuts.ts";
import classes from "./overlays.module.css";
import { useLogout } from "./use-logout.ts";

interface Props {
  readonly overlay: Overlay | undefined;
  readonly onOverlay: (overlay: Overlay | undefined) => void;
}

/** What the shortcuts open (G341). Loaded at their first use. */
export function Overlays({ overlay, onOverlay }: Props) {
  const close = () => onOverlay(undefined);
  return (
    <>
      <Modal.Root
        opened={overlay === "palette"}
        onClose={close}
        size={560}
        transitionProps={{ duration: 80 }}
        yOffset="12vh"
      >
        <Modal.Overlay backgroundOpacity={0.4} />
        <Modal.Content aria-label="Commands">
          <Palette onDone={close} onKeys={() => onOverlay("keys")} />
        </Modal.Content>
      </Modal.Root>
      <ShortcutsDialog opened={overlay === "keys"} onClose={close} />
    </>
  );
}

/** More would only be scrolled; another letter is quicker. */
const most = 40;

function Palette({ onDone, onKeys }: { readonly onDone: () => void; readonly onKeys: () => void }) {
  const [text, setText] = useState("");
  const id = useId();
  const found = matchingCommands(useCommands(onKeys), text, most);
  const run = (command: Command | undefined) => {
    if (!command) return;
    onDone();
    command.run();
  };
  const { active, setActive, list, onKeyDown } = useActive(found.length, (at) => run(found[at]));
  const search = (typed: string) => {
    setText(typed);
    setActive(0);
  };
  return (
    <div className={classes.palette}>
      <div className={classes.field}>
        <Search size={16} strokeWidth={1.6} aria-hidden="true" />
        <input
          role="combobox"
          aria-label={hint}
          aria-expanded="true"
          aria-controls={`${id}-list`}
          aria-activedescendant={found.length > 0 ? `${id}-${active}` : undefined}
          placeholder={hint}
          autoComplete="off"
          spellCheck={false}
          data-autofocus
          value={text}
          onChange={(event) => search(event.currentTarget.value)}
          onKeyDown={onKeyDown}
        />
        <kbd>Esc</kbd>
      </div>
      <div ref={list} id={`${id}-list`} role="listbox" aria-label="Commands" className={classes.list} tabIndex={-1}>
        {found.map((command, at) => (
          <Option
            key={`${command.group} ${command.label} ${at}`}
            {...{ id: `${id}-${at}`, active: at === active, label: command.label }}
            heading={command.group === found[at - 1]?.group ? undefined : command.group}
            onActive={() => setActive(at)}
            onRun={() => run(command)}
          />
        ))}
      </div>
      {found.length === 0 && <p role="status">Nothing has these words.</p>}
    </div>
  );
}

const hint = "Search screens, environments and actions";

/** The option that Enter runs; the arrow keys move it. */
function useActive(count: number, onEnter: (at: number) => void) {
  const [active, setActive] = useState(0);
  const list = useRef<HTMLDivElement>(null);
  const moveTo = (at: number) => {
    const next = (at + count) % Math.max(1, count);
    setActive(next);
    list.current?.querySelectorAll("[role=option]")[next]?.scrollIntoView({ block: "nearest" });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "ArrowDown") moveTo(active + 1);
    else if (event.key === "ArrowUp") moveTo(active - 1);
    else if (event.key === "Enter") onEnter(active);
    else return;
    event.preventDefault();
  };
  return { active, setActive, list, onKeyDown };
}

interface OptionProps {
  readonly id: string;
  readonly heading: string | undefined;
  readonly active: boolean;
  readonly label: string;
  readonly onActive: () => void;
  readonly onRun: () => void;
}

function Option({ id, heading, active, label, onActive, onRun }: OptionProps) {
  return (
    <>
      {heading && (
        <div role="presentation" className={classes.heading}>
          {heading}
        </div>
      )}
      {/* The field keeps the focus and has the keys. */}
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: see above */}
      <div
        id={id}
        role="option"
        tabIndex={-1}
        aria-selected={active}
        className={classes.option}
        onMouseMove={() => active || onActive()}
        onClick={onRun}
      >
        {label}
      </div>
    </>
  );
}

function useCommands(onKeys: () => void): readonly Command[] {
  const userId = useSession()?.userId ?? "";
  const { environments = [] } = useEnvironments(userId);
  const { run } = useActions(userId);
  const navigate = useNavigate();
  const template = useConfig()?.environmentUrl;
  const { toggleColorScheme } = useMantineColorScheme();
  const { logout } = useLogout();
  return commandsOf(environments, {
    go: (path) => void navigate(path),
    leave: (path) => window.location.assign(path),
    act: run,
    openSession: ({ subdomain }) => {
      if (template === undefined) return;
      permitOpening(subdomain);
      window.open(environmentAddress(template, subdomain), "_blank", "noopener");
    },
    switchScheme: toggleColorScheme,
    showKeys: onKeys,
    logout,
  });
}
