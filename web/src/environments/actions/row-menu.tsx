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
  readonly host: string;
  readonly disabled: boolean;
  readonly onTerminate: () => void;
}

/** The rarely needed actions of a row. Mounted when it is first opened: a list has many rows, and a menu is expensive. */
export function RowMenu(props: Props) {
  const [asked, setAsked] = useState(false);
  if (asked) return <OpenedMenu {...props} />;
  return (
    <ActionIcon
      variant="subtle"
      size={28}
      disabled={props.disabled}
      aria-label={`More actions for ${props.environment.name}`}
      aria-haspopup="menu"
      aria-expanded={false}
      onClick={() => setAsked(true)}
    >
      <Ellipsis size={16} strokeWidth={1.6} />
    </ActionIcon>
  );
}

function OpenedMenu({ environment, host, disabled, onTerminate }: Props) {
  const [opened, setOpened] = useState(false);
  // The API allows to end it again, but the menu does not offer it.
  const isEnded = environment.status === "terminated";
  const download = useDownload(environment.id, environment.subdomain);
  const button = useRef<HTMLButtonElement>(null);
  // The pressed button is gone: this one takes its focus, and gets it back when the menu closes.
  useEffect(() => {
    button.current?.focus();
    setOpened(true);
  }, []);
  // The menu gets keys only once it has the focus, a moment after it is visible.
  useHotkeys(opened ? [["Escape", close]] : [], []);
  function close() {
    setOpened(false);
    button.current?.focus();
  }
  const ask = () => {
    // The item is unmounted with the menu: the dialog returns the focus to the button.
    button.current?.focus();
    onTerminate();
  };
  return (
    <Menu position="bottom-end" width={212} opened={opened} onChange={setOpened}>
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
      <Menu.Dropdown>
        {opened && (
          <>
            {!isEnded && <Menu.Item onClick={() => copy(host, "Address")}>Copy address</Menu.Item>}
            {mayExtend[environment.status] && <AddTime id={environment.id} onChosen={() => button.current?.focus()} />}
            <References id={environment.id} />
            {!isFirstLaunch(environment) && <Menu.Item onClick={() => download.mutate()}>Download files</Menu.Item>}
            {!isEnded && mayTerminate[environment.status] && (
              <>
                <Menu.Divider />
                <Menu.Item className={classes.danger ?? ""} onClick={ask}>
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

/** The dialog is in the URL, because notices of the end link to it too (G100). */
function AddTime({ id, onChosen }: { readonly id: string; readonly onChosen: () => void }) {
  const [params] = useSearchParams();
  const search = new URLSearchParams(params);
  search.set(extendParam, id);
  return (
    // The item is unmounted with the menu: the dialog returns the focus to the button.
    <Menu.Item component={Link} to={`?${search}`} onClick={onChosen}>
      Add time
    </Menu.Item>
  );
}

/** Identifiers for support and refunds (G70). An environment between two runs still has its last session. */
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
    // Without TLS or permission there is no clipboard: the toast shows the value.
    () => toast.info(value, { title: what, duration: 15_000 }),
  );
}
