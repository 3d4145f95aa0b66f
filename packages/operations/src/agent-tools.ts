import { findSchemaFault } from "@svc/agents";
import { MASKED_SECRET, invalidInput, parseUrl } from "@svc/contracts";
import type { AgentTool, FieldFault, Sealed } from "@svc/contracts";
import type { AddressGuard } from "@svc/outbound";
import type { Sealer, Store, StoredTool } from "@svc/store";

/** What making and changing an agent needs. */
export interface AgentDeps {
  store: Store;
  /** Says at once which addresses of tools are plainly forbidden; their calls are guarded in any case. */
  fetchGuard?: Pick<AddressGuard, "checkUrl">;
}

const originOf = (url: string) => parseUrl(url.replaceAll(/\{[^{}]*\}/g, "x"))?.origin ?? null;

/** The secret that stands for a mask: that of the same header of the same tool, as long as it goes to the same host. */
function presentSecret(tool: AgentTool, header: string, present: readonly StoredTool[]): Sealed | null {
  const before = present.find(({ type, name }) => type === tool.type && name === tool.name);
  if (before === undefined || originOf(before.url) !== originOf(tool.url)) return null;
  const known = Object.entries(before.headers).find(([name]) => name.toLowerCase() === header.toLowerCase());
  return known?.[1] ?? null;
}

const pointerPart = (name: string) => name.replaceAll("~", "~0").replaceAll("/", "~1");

function sealHeaders(
  tool: AgentTool,
  at: string,
  { sealer, present, faults }: { sealer: Sealer; present: readonly StoredTool[]; faults: FieldFault[] },
): StoredTool {
  const headers: Record<string, Sealed> = {};
  for (const [name, value] of Object.entries(tool.headers)) {
    const sealed = value === MASKED_SECRET ? presentSecret(tool, name, present) : sealer.seal(value);
    if (sealed === null) {
      const detail = "refers to a stored secret that this tool does not have for this host; send the value itself";
      faults.push({ pointer: `${at}/headers/${pointerPart(name)}`, code: "no_secret", detail });
    } else headers[name] = sealed;
  }
  return { ...tool, headers };
}

/**
 * The tools of an agent as they are kept, of those that are given: values of headers are sealed, and a mask stands for
 * the secret that is there. Throws invalid_request with every fault: addresses that are plainly forbidden, schemas that
 * are none, masks without a secret.
 */
export async function sealTools(
  { store, fetchGuard }: AgentDeps,
  given: readonly AgentTool[],
  present: readonly StoredTool[],
): Promise<StoredTool[]> {
  const faults: FieldFault[] = [];
  const sealed: StoredTool[] = [];
  for (const [index, tool] of given.entries()) {
    const at = `/tools/${index}`;
    const check = fetchGuard?.checkUrl(tool.url.replaceAll(/\{[^{}]*\}/g, "x"));
    if (check?.ok === false) faults.push({ pointer: `${at}/url`, code: "blocked_address", detail: check.reason });
    const schemaFault = tool.type === "http" ? await findSchemaFault(tool.parameters) : null;
    if (schemaFault !== null) faults.push({ pointer: `${at}/parameters`, code: "invalid", detail: schemaFault });
    sealed.push(sealHeaders(tool, at, { sealer: store.sealer, present, faults }));
  }
  if (faults.length > 0) throw invalidInput(faults, "The agent");
  return sealed;
}
