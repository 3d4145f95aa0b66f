import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { portsQuery } from "../api/channels.ts";
import type { ServiceAddressId } from "../api/channels.ts";
import { useServices } from "../session/services.ts";

/** URLs without special characters of shells, HTML or JSON, because they are inserted into snippets. */
const ADDRESS = /^https?:\/\/[\w.:[\]-]+(?:\/[\w./~%-]*)?$/i;

/** Parses a URL to which paths can be appended: http or https, without a trailing slash. Null for anything else. */
export function readAddress(text: string): string | null {
  const trimmed = text.trim().replace(/\/+$/, "");
  return ADDRESS.test(trimmed) && URL.canParse(trimmed) ? trimmed : null;
}

/** The parts of the service with their ports, polled. */
export function useServiceAddresses() {
  const { connection } = useServices();
  return useQuery(portsQuery(connection));
}

const nameOf = (id: ServiceAddressId) => `console.address.${id}`;

/**
 * The URL of a part for other systems: the one entered in this browser, otherwise its port on the host of the console.
 * Only the administrator of a proxy knows the public URL.
 */
export function useAddress(id: ServiceAddressId) {
  const { storage } = useServices();
  const { data: addresses } = useServiceAddresses();
  const [said, setSaid] = useState(() => storage.getItem(nameOf(id)) ?? "");
  const port = addresses?.find((address) => address.id === id)?.port;
  const usual = port === undefined ? "" : `http://${location.hostname}:${port}`;
  return {
    url: readAddress(said) ?? usual,
    usual,
    said,
    isWrong: said.trim() !== "" && readAddress(said) === null,
    say: (text: string) => {
      setSaid(text);
      if (readAddress(text) !== null) storage.setItem(nameOf(id), text);
      else if (text.trim() === "") storage.removeItem(nameOf(id));
    },
  };
}
