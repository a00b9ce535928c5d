/** Of a host on another machine: whether this process has found it fit since it was last unreachable. */
export interface HostCheck {
  isPassed(): boolean;
  /** It is checked again before anything more is leased on it. */
  repeat(): void;
}
