import { mayExtend, mayTerminate } from "@berth/contract";
import { ActionIcon, Menu } from "@mantine/core";
import { useHotkeys } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { Ellipsis } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { Link, useSearchParams } from "react-router";
import { environmentQuery } from "../../api/queries.ts";
import { supportPath } from "../../ui/controls/support-path.ts";
import { toast } from "../../ui/toast/toast.ts";
import { type Environment, isFirstLaunch } from "../lifecycle/environment.ts";
import { extendParam } from "./extend-param.ts";
import classes from "./row-actions.module.css";
import { useDownload } from "./use-download.ts";

interface Props {
  readonly environment: Environment;
  readonly disabled: boolean;
  readonly onTerminate: () => void;
}

/** The less common actions of a row. The menu is mounted on first use, because it is expensive and a list has many rows. */
export function RowMenu(props: Props) {
  const [used, setUsed] = useState(false);
  if (used) return <OpenedMenu {...props} />;
  return (
    <ActionIcon
      variant="subtle"
      size={28}
      disabled={props.disabled}
      aria-label={`More actions for ${props.environment.name}`}
      aria-haspopup="menu"
      aria-expanded={false}
      onClick={() => setUsed(true)}
    >
      <Ellipsis size={16} strokeWidth={1.6} />
    </ActionIcon>
  );
}

function OpenedMenu({ environment, disabled, onTerminate }: Props) {
  const [opened, setOpened] = useState(false);
  // The API accepts a second termination; the menu does not offer it.
  const isEnded = environment.status === "terminated";
  const { host } = environment;
  const download = useDownload(environment.id, environment.subdomain);
  const button = useRef<HTMLButtonElement>(null);
  // This button replaces the one that was clicked, so it needs the focus to return to.
  useEffect(() => {
    button.current?.focus();
    setOpened(true);
  }, []);
  const change = (open: boolean) => {
    setOpened(open);
    if (!open) button.current?.focus();
  };
  useHotkeys(opened ? [["Escape", () => change(false)]] : [], []);
  return (
    // Mantine's focus trap would focus the menu twice, the second time after a quick user's first keys.
    <Menu
      position="bottom-end"
      width={212}
      opened={opened}
      onChange={change}
      trapFocus={false}
      returnFocus={false}
      closeOnEscape={false}
    >
      <Menu.Target>
        <ActionIcon
          ref={button}
          variant="subtle"
          size={28}
          disabled={disabled}
          aria-label={`More actions for ${environment.name}`}
        >
          <Ellipsis size={16} strokeWidth={1.6} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown ref={focusFirstItem} onKeyDown={(event) => event.key === "Tab" && event.preventDefault()}>
        {opened && (
          <>
            {!isEnded && host !== "" && <Menu.Item onClick={() => copy(host, "Address")}>Copy address</Menu.Item>}
            {mayExtend[environment.status] && <AddTime id={environment.id} />}
            <References id={environment.id} />
            {!isFirstLaunch(environment) && <Menu.Item onClick={() => download.mutate()}>Download files</Menu.Item>}
            {!isEnded && mayTerminate[environment.status] && (
              <>
                <Menu.Divider />
                <Menu.Item className={classes.danger ?? ""} onClick={onTerminate}>
                  Terminate
                </Menu.Item>
              </>
            )}
          </>
        )}
      </Menu.Dropdown>
    </Menu>
  );
}

function focusFirstItem(menu: HTMLDivElement | null): void {
  if (menu?.contains(document.activeElement)) return;
  menu?.querySelector<HTMLElement>("[role=menuitem]:not(:disabled)")?.focus({ preventScroll: true });
}

/** The dialog is in the URL, because notices of the end link to it too (G100). */
function AddTime({ id }: { readonly id: string }) {
  const [params] = useSearchParams();
  const search = new URLSearchParams(params);
  search.set(extendParam, id);
  return (
    <Menu.Item component={Link} to={`?${search}`}>
      Add time
    </Menu.Item>
  );
}

/** Identifiers for support and refunds (G70). Between two runs the last session is kept. */
function References({ id }: { readonly id: string }) {
  const { data, isPending } = useQuery(environmentQuery(id));
  const session = data?.session_id ?? null;
  const payment = data?.payment_reference ?? null;
  return (
    <>
      <Menu.Item disabled={session === null} onClick={() => session !== null && copy(session, "Session ID")}>
        {session !== null || isPending ? "Copy session ID" : "No session yet"}
      </Menu.Item>
      <Menu.Item disabled={payment === null} onClick={() => payment !== null && copy(payment, "Payment reference")}>
        Copy payment reference
      </Menu.Item>
      <Menu.Item component={Link} to={supportPath({ issue: "container_issues", session, payment })}>
        Get support
      </Menu.Item>
    </>
  );
}

function copy(value: string, what: string): void {
  const written = navigator.clipboard?.writeText(value) ?? Promise.reject(new Error("no clipboard"));
  written.then(
    () => toast.success(`${what} copied`),
    // Without TLS or permission there is no clipboard, so the toast shows the value.
    () => toast.info(value, { title: what, duration: 15_000 }),
  );
}
