import { ServiceFault } from "@svc/client";
import type { Texts } from "../i18n/create-texts.ts";

/** What went wrong, for people: the server's own words with every field that is at fault. */
export function describeFault(fault: unknown, t: Texts["t"]): string {
  if (!(fault instanceof ServiceFault)) return t("fault.unknown");
  if (fault.code === "unreachable") return t("fault.unreachable");
  const fields = fault.errors.map(({ pointer, detail }) => `${pointer.replace(/^\//, "") || "–"}: ${detail}`);
  return [fault.detail, ...fields].join(" · ");
}
