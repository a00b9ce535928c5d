import type { MiningFinding } from "@berth/contract/console/mining";
import classes from "./evidence.module.css";

/** What was seen; command lines only on demand, because they may have a wallet or a password of a pool (G165). */
export function Evidence({ finding: { kind, evidence } }: { readonly finding: MiningFinding }) {
  const { what, commands } = evidence;
  return (
    <div className={classes.evidence}>
      <p>{what}</p>
      {kind === "gpu" && <small>A training that prints nothing looks the same. Ask its owner first.</small>}
      {commands.length > 0 && (
        <details>
          <summary>Command lines</summary>
          <ul>
            {commands.map((command) => (
              <li key={command} className="mono">
                {command}
              </li>
            ))}
          </ul>
        </details>
      )}
    </div>
  );
}
