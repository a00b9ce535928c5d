/**
 * Networks that no run may reach (docs/internals/runtime.md): its machine's, other private ones, the provider's metadata.
 */
export const closedNetworks = {
  ipv4: [
    ...["0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12"],
    ...["192.0.0.0/24", "192.168.0.0/16", "198.18.0.0/15", "224.0.0.0/4", "240.0.0.0/4"],
  ],
  // The last two carry IPv4 addresses, private ones too.
  ipv6: ["::/127", "fc00::/7", "fe80::/10", "ff00::/8", "64:ff9b::/96", "2002::/16"],
} as const;

/** TCP ports that are closed on every destination, in rising order: SMTP, against spam. */
export const closedPorts = [25, 465, 587] as const;
