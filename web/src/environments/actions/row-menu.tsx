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

/** The rarely needed rest of a row. Made when it is first opened: a list has many rows, and a menu is dear. */
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
  // To end it again is harmless by the API, and nothing to offer.
  const isEnded = environment.status === "terminated";
  const download = useDownload(environment.id, environment.subdomain);
  const button = useRef<HTMLButtonElement>(null);
  // The button that was pressed is gone: this one takes its focus, and the menu gives it back when it closes.
  useEffect(() => {
    button.current?.focus();
    setOpened(true);
  }, []);
  // The menu hears keys only once the focus is in it, a moment after it is seen.
  useHotkeys(opened ? [["Escape", close]] : [], []);
  function close() {
    setOpened(false);
    button.current?.focus();
  }
  const ask = () => {
    // The item goes with the menu: the dialog is to give the focus back to what stays.
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

/** The dialog stands in the address, where a notice of the end leads too (G100). */
function AddTime({ id, onChosen }: { readonly id: string; readonly onChosen: () => void }) {
  const [params] = useSearchParams();
  const search = new URLSearchParams(params);
  search.set(extendParam, id);
  return (
    // The item goes with the menu: the dialog is to give the focus back to what stays.
    <Menu.Item component={Link} to={`?${search}`} onClick={onChosen}>
      Add time
    </Menu.Item>
  );
}

/** What support and refunds ask for (G70). An environment between two runs still has its last session. */
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
    // Without TLS or permission there is no clipboard: the value is shown so that it can be taken by hand.
    () => toast.info(value, { title: what, duration: 15_000 }),
  );
}
