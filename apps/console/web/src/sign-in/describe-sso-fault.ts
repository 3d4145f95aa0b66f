import type { TextKey } from "../i18n/text-table.ts";

/** Why single sign-on did not work, as the server says it in the address that it sends the browser back to. */
const SSO_FAULTS: ReadonlyMap<string, TextKey> = new Map([
  ["unknown_operator", "signIn.ssoUnknown"],
  ["unavailable", "signIn.ssoAway"],
  ["rate_limited", "signIn.tooOften"],
  ["refused", "signIn.ssoFailed"],
]);

/** The text for a fault of single sign-on; the general one for a fault that is not known. */
export const describeSsoFault = (fault: string): TextKey => SSO_FAULTS.get(fault) ?? "signIn.ssoFailed";
