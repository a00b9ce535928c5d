import { archiveLink } from "@berth/contract";
import { call, said } from "../../api/call.ts";
import { toast } from "../../ui/toast/toast.ts";

/** Asks for a link and follows it at once: the browser saves gigabytes to disk, past this page's memory. */
export async function downloadFiles(environmentId: string, name: string): Promise<void> {
  try {
    const { url } = await call(archiveLink, { params: { id: environmentId }, body: {} });
    const link = document.createElement("a");
    link.href = url;
    link.download = `${name}.tar.gz`;
    link.click();
  } catch (error) {
    toast.error(said(error), {
      title: "The files could not be downloaded",
      action: { label: "Retry", onClick: () => void downloadFiles(environmentId, name) },
    });
  }
}
