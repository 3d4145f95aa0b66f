import type { RequiredScope } from "@svc/contracts";

/** What a key can be given, by what it is about. Scopes that no operation asks for are left out. */
export const KEY_SCOPES = {
  messages: ["messages:read", "messages:write"],
  tickets: ["tickets:read", "tickets:write"],
  kb: ["kb:read", "kb:write"],
  agents: ["agents:read", "agents:execute", "agents:write"],
  models: ["models:read", "models:write"],
  channels: ["channels:read"],
  webhooks: ["webhooks:read", "webhooks:write"],
  audit: ["audit:read"],
  privacy: ["privacy:read", "privacy:write"],
} as const satisfies Record<string, readonly RequiredScope[]>;
