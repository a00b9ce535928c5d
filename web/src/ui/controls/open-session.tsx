import { Button, type ButtonProps } from "@mantine/core";
import { useConfig } from "../../api/product-config.ts";
import { environmentAddress } from "../../format.ts";

/** Opens the environment in a new tab; the gateway signs its owner in (G40). */
export function OpenSession({ subdomain, ...button }: { subdomain: string } & ButtonProps) {
  const template = useConfig()?.environmentUrl;
  return (
    <Button
      component="a"
      target="_blank"
      rel="noopener"
      {...button}
      {...(template === undefined ? { "aria-disabled": true } : { href: environmentAddress(template, subdomain) })}
    >
      Open Session
    </Button>
  );
}
