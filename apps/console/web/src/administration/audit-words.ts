import { mapChannels } from "@svc/contracts";
import type { AuditItem, ChannelId } from "@svc/contracts";
import type { Texts } from "../i18n/texts.ts";

/** Actions that have a text, in the order of the filter before it is sorted by these texts. */
export const AUDIT_ACTIONS = [
  "agents.create",
  "agents.update",
  "agents.delete",
  "agents.execute",
  "agents.replay",
  "canned_replies.create",
  "canned_replies.update",
  "canned_replies.delete",
  "channels.update",
  "channels.test",
  "dead-letters.retry",
  "deliveries.replay",
  "documents.add",
  "documents.delete",
  "gaps.update",
  "gaps.write_article",
  "hooks.create",
  "hooks.update",
  "hooks.delete",
  "hooks.rotate",
  "hooks.retry",
  "http.denied",
  "issues.submit",
  "kb.create",
  "kb.update",
  "kb.delete",
  "key.use",
  "keys.create",
  "keys.revoke",
  "keys.rotate",
  "messages.test",
  "models.pull",
  "models.cancel_pull",
  "notes.summarize",
  "operators.create",
  "operators.update",
  "operators.delete",
  "operators.link",
  "privacy.export",
  "privacy.erase",
  "privacy.purge",
  "projects.create",
  "projects.update",
  "projects.delete",
  "proposals.create",
  "proposals.accept",
  "proposals.reject",
  "service.backup",
  "service.initialize",
  "service.restore",
  "service.upgrade",
  "session.sign_in",
  "session.sign_out",
  "session.sign_out_everywhere",
  "session.password",
  "tickets.approve",
  "tickets.assign",
  "tickets.edit",
  "tickets.file",
  "tickets.note",
  "tickets.regenerate",
  "tickets.reject",
  "tickets.reopen",
  "tickets.reply",
  "tickets.reroute",
  "tickets.resolve",
  "tickets.retry",
  "tickets.takeover",
  "tickets.unassign",
  "tickets.update",
  "tool-calls.approve",
  "tool-calls.reject",
  "webhook-secret.set",
] as const;

/** Results that have a text; all others are shown by their code. */
export const AUDIT_RESULTS = [
  "ok",
  "cancelled",
  "internal",
  "invalid_key",
  "missing_key",
  "insufficient_scope",
  "project_mismatch",
  "invalid_request",
  "not_found",
  "not_signed_in",
  "sign_in_failed",
  "csrf_refused",
  "origin_not_allowed",
  "invalid_signature",
  "invalid_identity",
  "version_conflict",
  "rate_limited",
  "storage_full",
  "unavailable",
] as const;

/** Actors that are neither a person nor a key. */
export const AUDIT_ACTORS = [
  "command-line",
  "anonymous",
  "configuration",
  "initialisation",
  "keys",
  "retention",
  "single-sign-on",
] as const;

const CHANNEL_NAMES = {
  ...mapChannels<{ [Id in ChannelId]: `integrations.${Id}` }>((id) => `integrations.${id}`),
  "tool-server": "integrations.tools",
} as const;

/** Returns the member of a list that a text is, or undefined. */
const memberOf = <Name extends string>(names: readonly Name[], text: string) => names.find((name) => name === text);

/** Returns an actor by name; never an ID. */
export function describeActor({ actor, actorName }: Pick<AuditItem, "actor" | "actorName">, t: Texts["t"]): string {
  if (actorName !== null) return actor.startsWith("key:") ? t("audit.key", { name: actorName }) : actorName;
  if (actor.startsWith("operator:")) return t("people.someone");
  if (actor.startsWith("key:")) return t("audit.deletedKey");
  const known = memberOf(AUDIT_ACTORS, actor);
  return known === undefined ? actor : t(`audit.actor.${known}`);
}

/** Returns what the actor did or, if it failed, tried to do: the rest of a sentence that starts with the actor's name. */
export function describeAction({ action, result }: Pick<AuditItem, "action" | "result">, t: Texts["t"]): string {
  const known = memberOf(AUDIT_ACTIONS, action);
  if (known === undefined) return action;
  return result === "ok" ? t(`audit.did.${known}`) : t("audit.tried", { what: t(`audit.do.${known}`) });
}

/** Returns a result in words. */
export function describeResult(result: string, t: Texts["t"]): string {
  const known = memberOf(AUDIT_RESULTS, result);
  return known === undefined ? result : t(`audit.result.${known}`);
}

/** Returns the object by name; null if it has none or is the actor itself. */
export function describeObject(
  { action, actor, object, objectName }: Pick<AuditItem, "action" | "actor" | "object" | "objectName">,
  t: Texts["t"],
): string | null {
  if (object === null || actor.endsWith(`:${object}`)) return null;
  if (objectName !== null) return objectName;
  if (action === "http.denied") return object;
  if (object.startsWith("model:")) return object.split(":").slice(2).join(":");
  return object in CHANNEL_NAMES ? t(CHANNEL_NAMES[object as keyof typeof CHANNEL_NAMES]) : null;
}
