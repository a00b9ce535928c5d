import { archiveLink } from "@berth/contract";
import { useMutation } from "@tanstack/react-query";
import { call, messageOf } from "../../api/call.ts";
import { toast } from "../../ui/toast/toast.ts";

/** Fetches a link and follows it at once: the browser saves gigabytes to disk, without this page's memory. */
export function useDownload(environmentId: string, name: string) {
  const download = useMutation({
    mutationFn: () => call(archiveLink, { params: { id: environmentId }, body: {} }),
    onSuccess: ({ url }) => {
      const link = document.createElement("a");
      link.href = url;
      link.download = `${name}.tar.gz`;
      link.click();
    },
    onError: (error) =>
      toast.error(messageOf(error), {
        title: "The files could not be downloaded",
        action: { label: "Retry", onClick: () => download.mutate() },
      }),
  });
  return download;
}
