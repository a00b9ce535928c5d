import { addSshKey, isPrivateKey, maxKeyNameLength, privateKeyRefusal } from "@berth/contract";
import { Button, Textarea, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { ApiError } from "../../api/api-error.ts";
import { call, messageOf } from "../../api/call.ts";
import { keys } from "../../api/queries.ts";
import { toast } from "../../ui/toast/toast.ts";
import classes from "./ssh-keys.module.css";

interface Fields {
  readonly name: string;
  readonly publicKey: string;
}

/** Takes the line of a `.pub` file; the server says what is wrong with another text. */
export function SshKeyForm({ userId }: { readonly userId: string }) {
  const client = useQueryClient();
  const form = useForm<Fields>({
    initialValues: { name: "", publicKey: "" },
    validate: { publicKey: problemOf },
    onValuesChange: () => form.clearErrors(),
  });
  const { mutate, isPending } = useMutation({
    mutationFn: ({ name, publicKey }: Fields) =>
      call(addSshKey, { params: { user_id: userId }, body: { name: name.trim(), public_key: publicKey.trim() } }),
    onSuccess: ({ ssh_key }) => {
      form.reset();
      toast.success(`${ssh_key.name} was added`);
    },
    onError: (error) => {
      if (error instanceof ApiError && error.status > 0) form.setErrors({ publicKey: messageOf(error) });
      else toast.error(messageOf(error), { title: "The key was not added" });
    },
    onSettled: () => client.invalidateQueries({ queryKey: keys.sshKeys(userId) }),
  });
  const submit = form.onSubmit((fields) => {
    if (!isPending) mutate(fields);
  });
  return (
    <form className={classes.form} noValidate onSubmit={submit} aria-label="Add a key">
      <Textarea
        label="Public key"
        placeholder="ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAA... you@computer"
        description="The one line of the .pub file"
        autosize
        minRows={3}
        maxRows={8}
        spellCheck={false}
        autoComplete="off"
        autoCapitalize="off"
        {...form.getInputProps("publicKey")}
      />
      <TextInput
        label="Name (optional)"
        placeholder="you@computer"
        description="Left empty, the end of the line names it"
        maxLength={maxKeyNameLength}
        autoComplete="off"
        {...form.getInputProps("name")}
      />
      <div>
        <Button type="submit" loading={isPending}>
          Add key
        </Button>
      </div>
    </form>
  );
}

/** A private key does not leave the page. */
function problemOf(text: string): string | null {
  if (text.trim() === "") return "Paste the line of the .pub file";
  return isPrivateKey(text) ? privateKeyRefusal : null;
}
