import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { portsQuery } from "../api/channels.ts";
import type { ServiceAddressId } from "../api/channels.ts";
import { useServices } from "../session/services.ts";

/** Characters of addresses that are no signs of a shell, of HTML or of JSON: what is said is put into snippets. */
const ADDRESS = /^https?:\/\/[\w.:[\]-]+(?:\/[\w./~%-]*)?$/i;

/** An address as it is put before paths: http or https, without a slash at its end. Null for anything else. */
export function readAddress(text: string): string | null {
  const trimmed = text.trim().replace(/\/+$/, "");
  return ADDRESS.test(trimmed) && URL.canParse(trimmed) ? trimmed : null;
}

/** The parts of the service, followed. */
export function useServiceAddresses() {
  const { connection } = useServices();
  return useQuery(portsQuery(connection));
}

const nameOf = (id: ServiceAddressId) => `console.address.${id}`;

/**
 * The address by which others call a part: what somebody has said in this browser, else its port on the machine that
 * the console was opened on. Only who has put a proxy before it knows the address that it has outside.
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
