import { createServer } from "node:net";
import { CannotListenError, PortTakenError } from "./listen.ts";
import type { ListenAddress } from "./listen.ts";

/** Returns the system's error for listening on an address, or null. */
function findListenError({ host, port }: ListenAddress): Promise<NodeJS.ErrnoException | null> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", resolve);
    server.listen(port, host, () => server.close(() => resolve(null)));
  });
}

/**
 * Checks at startup that every address can be listened on. Throws PortTakenError with all ports that are taken, else
 * CannotListenError for the first address that cannot be used.
 */
export async function checkPortsFree(addresses: readonly ListenAddress[]): Promise<void> {
  const taken: ListenAddress[] = [];
  let unusable: CannotListenError | null = null;
  for (const address of addresses) {
    const error = await findListenError(address);
    if (error?.code === "EADDRINUSE") taken.push(address);
    else if (error !== null) unusable ??= new CannotListenError(address, error);
  }
  if (taken.length > 0) throw new PortTakenError(taken);
  if (unusable !== null) throw unusable;
}
