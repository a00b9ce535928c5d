/** The check of a host on another machine by this process, since the host was last unreachable. */
export interface HostCheck {
  isPassed(): boolean;
  /** The host has to pass again before anything more is leased on it. */
  repeat(): void;
}
