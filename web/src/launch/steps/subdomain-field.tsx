import { TextInput } from "@mantine/core";
import { Check } from "lucide-react";
import { hostName } from "../../format.ts";
import classes from "./step-review.module.css";
import { type NameCheck, useNameCheck } from "./use-name-check.ts";

interface Props {
  readonly subdomain: string;
  /** `GET /config`'s environmentUrl. */
  readonly template: string | undefined;
  readonly error: string | undefined;
  readonly onChange: (subdomain: string) => void;
}

/** The name with the result of its check (G36). */
export function SubdomainField({ subdomain, template, error, onChange }: Props) {
  const check = useNameCheck(subdomain);
  const suffix = template === undefined ? "" : hostName(template, "");
  const refusal = check.state === "refused" ? check.message : undefined;
  return (
    <>
      <TextInput
        mt={20}
        label="Subdomain"
        description="The address of your JupyterLab. 3 to 40 lower-case letters, digits and hyphens."
        value={subdomain}
        onChange={(event) => onChange(event.currentTarget.value)}
        maxLength={64}
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        error={error ?? refusal}
        rightSection={<span className={classes.suffix}>{suffix}</span>}
        rightSectionWidth={`calc(${suffix.length}ch + 24px)`}
        classNames={{ input: classes.subdomain ?? "" }}
      />
      <NameStatus check={check} host={`${subdomain.trim()}${suffix}`} onChange={onChange} />
    </>
  );
}

function NameStatus({
  check,
  host,
  onChange,
}: {
  readonly check: NameCheck;
  readonly host: string;
  readonly onChange: (subdomain: string) => void;
}) {
  const suggestion = check.state === "refused" ? check.suggestion : null;
  return (
    <div className={classes.answer} role="status">
      {check.state === "checking" && "Checking..."}
      {check.state === "unchecked" && "Whether it is free is checked again when you launch."}
      {check.state === "free" && (
        <span className={classes.free}>
          <Check size={14} strokeWidth={2.25} aria-hidden="true" />
          {host} is free
        </span>
      )}
      {check.state === "free" && check.message !== "" && <span>{check.message}</span>}
      {suggestion && (
        <button type="button" className="link target" onClick={() => onChange(suggestion)}>
          Use {suggestion}
        </button>
      )}
    </div>
  );
}
