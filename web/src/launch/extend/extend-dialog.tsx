import { mayExtend } from "@berth/contract";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useSearchParams } from "react-router";
import { profileQuery } from "../../api/queries.ts";
import { useSession } from "../../api/session.ts";
import { extendParam } from "../../environments/actions/extend-param.ts";
import { type Environment, environmentsOf } from "../../environments/lifecycle/environment.ts";
import { ExtensionForm } from "./extension-form.tsx";

/** Opened by the URL from a row or a notice, if the environment can be extended. */
export function ExtendDialog() {
  const [params, setParams] = useSearchParams();
  const { data } = useQuery(profileQuery(useSession()?.userId ?? ""));
  const chosen = environmentsOf(data?.user_data.containers ?? {}).find(({ id }) => id === params.get(extendParam));
  const close = () => {
    const rest = new URLSearchParams(params);
    for (const name of [extendParam, "hours", "currency"]) rest.delete(name);
    setParams(rest, { replace: true, preventScrollReset: true });
  };
  return <KeptOpen environment={chosen && mayExtend[chosen.status] ? chosen : undefined} onClose={close} />;
}

interface Props {
  /** Undefined while closed. */
  readonly environment: Environment | undefined;
  readonly onClose: () => void;
}

/** Keeps its environment during the closing animation. */
function KeptOpen({ environment, onClose }: Props) {
  const [shown, setShown] = useState(environment);
  if (environment && environment !== shown) setShown(environment);
  return (
    shown && <ExtensionForm key={shown.id} environment={shown} opened={environment !== undefined} onClose={onClose} />
  );
}
