import type { ArgumentSource } from "@svc/contracts";
import { isRecord } from "@svc/primitives";
import type { CallableTool } from "./callable-tool.ts";

/** The customer of a run, as far as their identity is verified. */
export interface ToolCustomer {
  /** True for an unverified customer, who could ask for anybody's data. */
  isAnonymous: boolean;
  /** Values of bound arguments; one that is absent is unknown in this conversation. */
  values: Readonly<Partial<Record<ArgumentSource, string>>>;
}

/** A caller with an API key and no conversation. */
export const NO_CONVERSATION: ToolCustomer = { isAnonymous: false, values: {} };

type Bindings = Readonly<Record<string, ArgumentSource>>;

const propertiesOf = ({ properties }: Record<string, unknown>): Record<string, unknown> =>
  isRecord(properties) ? properties : {};

/** Returns the JSON Schema of the arguments that a model chooses: without the bound ones. */
export function withoutBound(parameters: Record<string, unknown>, bind: Bindings): Record<string, unknown> {
  const isFree = (name: unknown) => typeof name !== "string" || !Object.hasOwn(bind, name);
  const { required } = parameters;
  return {
    ...parameters,
    properties: Object.fromEntries(Object.entries(propertiesOf(parameters)).filter(([name]) => isFree(name))),
    ...(Array.isArray(required) ? { required: required.filter(isFree) } : {}),
  };
}

/** Matches names of arguments that identify whose data is requested: "orderId", "customer_email", "account". */
const IDENTIFIER =
  /(?:^|[_.-])(?:id|ids|uuid|guid|e?mail|phone|mobile|iban|ssn|login|username|user|customer|client|account|order|invoice|ticket|contract|booking|reservation|member|patient|employee|person|number|nr|ref|reference)(?:[_.-]|$)|(?:Id|ID|Ids|Uuid|Guid|Email|Mail|Phone|Number|Nr|Ref|Reference)$/;

/** Returns the arguments with which a model could request anybody's data: identifiers that are not bound. */
export function findUnboundIdentifiers(
  parameters: Record<string, unknown>,
  bind: Bindings,
  inPath: readonly string[] = [],
): string[] {
  return Object.keys(propertiesOf(parameters)).filter(
    (name) => !Object.hasOwn(bind, name) && (inPath.includes(name) || IDENTIFIER.test(name)),
  );
}

/** Result for the model of a call that is rejected for an anonymous customer. */
export const REFUSED =
  "Not called: the customer is not authenticated, and this tool could return data of other people. Do not call it again.";

/**
 * Returns the arguments of a call with the bound ones, which override the model's; or why the call is rejected: the
 * conversation lacks a bound value, or an anonymous customer could request anybody's data. Calls that need an
 * operator's approval are not rejected for anonymous customers.
 */
export function bindArguments(
  { bind, anonymous, approval }: Pick<CallableTool, "bind" | "anonymous" | "approval">,
  { isAnonymous, values }: ToolCustomer,
  given: Record<string, unknown>,
): { arguments: Record<string, unknown> } | { refusal: string } {
  if (isAnonymous && anonymous === "refuse" && approval === "auto") return { refusal: REFUSED };
  const bound = Object.entries(bind).map(([name, source]) => [name, values[source]] as const);
  const lacking = Object.entries(bind).find(([, source]) => values[source] === undefined);
  if (lacking !== undefined) {
    return { refusal: `Not called: this conversation has no verified ${lacking[1]}. Do not call it again.` };
  }
  return { arguments: { ...given, ...Object.fromEntries(bound) } };
}
