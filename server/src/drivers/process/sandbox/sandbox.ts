/** The files and the network that one run sees. `path` is outside; `at` is the path inside, by default the same. */
export interface View {
  readonly readOnly: readonly { readonly path: string; readonly at?: string }[];
  readonly writable: readonly { readonly path: string; readonly at: string }[];
  readonly network: boolean;
  /** A file descriptor on which bubblewrap writes the id of the sandbox's first process. */
  readonly infoFd?: number;
}

/** Returns the command line that runs a command with this view. */
export type Sandbox = (view: View, command: readonly string[]) => Promise<readonly string[]>;
