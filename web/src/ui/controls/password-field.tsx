import { PasswordInput, type PasswordInputProps } from "@mantine/core";
import { useState } from "react";

interface Props extends PasswordInputProps {
  readonly label: string;
  readonly onValue: (value: string) => void;
}

/** With a toggle that the keyboard reaches and that says what it does. */
export function PasswordField({ label, onValue, ...rest }: Props) {
  const [visible, setVisible] = useState(false);
  return (
    <PasswordInput
      label={label}
      required
      withAsterisk={false}
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
