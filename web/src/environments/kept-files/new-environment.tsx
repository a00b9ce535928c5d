import { Button } from "@mantine/core";
import { openHere } from "../../ui/controls/row-link.tsx";

interface Props {
  readonly name: string;
  readonly onOpen: (path: string) => void;
}

/** Leads to a launch under a name of one's own; the router's link would render at each key of the list's filter (G340). */
export function NewEnvironment({ name, onOpen }: Props) {
  const path = `/environments/create?subdomain=${encodeURIComponent(name)}`;
  return (
    <Button
      size="xs"
      variant="default"
      component="a"
      href={path}
      onClick={openHere(path, onOpen)}
      aria-label={`New environment of the name ${name}`}
    >
      New environment
    </Button>
  );
}
