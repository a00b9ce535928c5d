import { archiveLink } from "@berth/contract";
import { useMutation } from "@tanstack/react-query";
import { call, messageOf } from "../../api/call.ts";
import { toast } from "../../ui/toast/toast.ts";

/** Fetches a download link and opens it, so that the browser streams gigabytes to disk instead of memory. */
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
