import { archiveLink } from "@berth/contract";
import { ApiError, call } from "../api/client.ts";
import { toast } from "../ui/toast.ts";

/** Asks for a link and follows it at once: the browser saves gigabytes to disk, past this page's memory. */
export async function downloadFiles(environmentId: string, name: string): Promise<void> {
  try {
    const { url } = await call(archiveLink, { params: { id: environmentId }, body: {} });
    const link = document.createElement("a");
    link.href = url;
    link.download = `${name}.tar.gz`;
    link.click();
  } catch (error) {
    const why = error instanceof ApiError && error.status > 0 ? error.message : "No answer from the server.";
    toast.error(why, {
      title: "The files could not be downloaded",
      action: { label: "Retry", onClick: () => void downloadFiles(environmentId, name) },
    });
  }
}
