import { PasswordInput } from "@mantine/core";
import { useState } from "react";

interface Props {
  readonly label: string;
  readonly value: string;
  readonly onValue: (value: string) => void;
  readonly "aria-describedby"?: string;
}

/** With a toggle that the keyboard reaches and that says what it does. */
export function NewPasswordInput({ label, value, onValue, ...rest }: Props) {
  const [visible, setVisible] = useState(false);
  return (
    <PasswordInput
      label={label}
      autoComplete="new-password"
      required
      withAsterisk={false}
      value={value}
      onChange={(event) => onValue(event.currentTarget.value)}
      visible={visible}
      onVisibilityChange={setVisible}
      visibilityToggleButtonProps={{
        "aria-label": `${visible ? "Hide" : "Show"} ${label.toLowerCase()}`,
        tabIndex: 0,
      }}
      {...rest}
    />
  );
}
