/**
 * The file descriptor of the port that systemd opened for this process (sd_listen_fds(3), `deploy/berth.socket`). The port
 * stays open while the server restarts: connections wait in the kernel, and none is refused (G158).
 */
export function inheritedSocket({
  LISTEN_PID,
  LISTEN_FDS,
}: Readonly<Record<string, string | undefined>>): number | undefined {
  return LISTEN_PID === String(process.pid) && Number(LISTEN_FDS) > 0 ? 3 : undefined;
}
