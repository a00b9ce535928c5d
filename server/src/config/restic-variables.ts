type Variables = Readonly<Record<string, string | undefined>>;

const own = /^(AWS|RESTIC)_\w+$/;
/** What any program may need to run and to reach a network. */
const common = /^(PATH|HOME|TMPDIR|LANG|TZ|XDG_CACHE_HOME|SSL_CERT_(FILE|DIR)|(https?|no|all)_proxy)$/i;

/** Whether restic reads a variable itself, which may stand beside the settings then (docs/operate/backup.md). */
export function isResticVariable(name: string): boolean {
  return own.test(name);
}

/** The variables that restic is started with: its own with password and keys, and what any program needs. */
export function resticVariables(source: Variables): Readonly<Record<string, string>> {
  const all = Object.entries(source).filter(([name]) => own.test(name) || common.test(name));
  return Object.fromEntries(all.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
}
