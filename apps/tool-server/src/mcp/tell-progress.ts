import type { ServerContext } from "@modelcontextprotocol/server";
import type { Log } from "@svc/log";

/** How often who waits is told that the work goes on. */
const EVERY_MS = 1_000;

/**
 * Tells a caller who has asked for it (with a `progressToken`) that its call is being worked on: at once, and each second
 * until the answer is called. How much is left nobody knows, so progress only counts up.
 */
export function tellProgress({ mcpReq }: ServerContext, text: string, log: Log): () => void {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return () => undefined;
  let progress = 0;
  const tell = () => {
    const message = progress === 0 ? text : `${text} (${progress} s)`;
    mcpReq
      .notify({ method: "notifications/progress", params: { progressToken, progress, message } })
      .catch((error: unknown) => log.debug({ error }, "failed to send a progress notification"));
    progress++;
  };
  tell();
  const timer = setInterval(tell, EVERY_MS);
  return () => clearInterval(timer);
}
