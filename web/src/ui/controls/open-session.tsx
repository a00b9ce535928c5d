import { Button, type ButtonProps } from "@mantine/core";
import { permitOpening } from "../../api/open-permits.ts";
import { useConfig } from "../../api/product-config.ts";
import { environmentAddress } from "../../format.ts";

/** Opens the environment in a new tab; the gateway signs its owner in (G40). */
export function OpenSession({ subdomain, ...button }: { subdomain: string } & ButtonProps) {
  const template = useConfig()?.environmentUrl;
  const permit = () => permitOpening(subdomain);
  return (
    <Button
      component="a"
      target="_blank"
      rel="noopener"
      onClick={permit}
      onAuxClick={permit}
      {...button}
      {...(template === undefined ? { "aria-disabled": true } : { href: environmentAddress(template, subdomain) })}
    >
      Open Session
    </Button>
  );
}
