import { ServiceError } from "@svc/contracts";
import { createKnownHosts, isLoopbackBound } from "@svc/http";
import type { RequestHandler } from "express";

/** Where the console listens, and by which names it is reached. */
export interface ConsoleAddresses {
  bindHost: string;
  publicUrls: readonly string[];
  trustProxy: readonly string[];
}

/** The error of a request that names a host by which the console is not known. */
export const unknownHost = () =>
  new ServiceError(
    "origin_not_allowed",
    "The console does not accept this host name. Open it at its own URL, or ask an administrator to add this URL to SVC_PUBLIC_URLS.",
  );

/**
 * Lets only requests on that name a host by which the console is known, where that can be said: with public URLs, and
 * where only programs on this machine reach the port and no proxy is named. Elsewhere, as in a local network without
 * public URLs, any name is served. Throws origin_not_allowed.
 */
export function checkHost({ bindHost, publicUrls, trustProxy }: ConsoleAddresses): RequestHandler {
  const hosts = createKnownHosts({ bindHost, publicUrls });
  const isChecked = publicUrls.length > 0 || (isLoopbackBound(bindHost) && trustProxy.length === 0);
  return (request, _response, next) => {
    if (isChecked && !hosts.isKnown(request.headers.host)) throw unknownHost();
    next();
  };
}
