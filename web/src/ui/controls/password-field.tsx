import { PasswordInput, type PasswordInputProps } from "@mantine/core";
import { useState } from "react";

interface Props extends PasswordInputProps {
  readonly label: string;
}

/** A password input with an accessible visibility toggle. */
export function PasswordField({ label, ...rest }: Props) {
  const [visible, setVisible] = useState(false);
  return (
    <PasswordInput
      label={label}
      required
      withAsterisk={false}
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
