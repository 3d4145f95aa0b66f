import { Tabs } from "radix-ui";
import { useState } from "react";
import type { Scope } from "@svc/contracts";
import { CopyBox } from "../forms/copy-box.tsx";
import { useTexts } from "../i18n/texts.ts";
import type { TextKey } from "../i18n/texts.ts";
import { useProject } from "../session/services.ts";
import { TabList } from "../ui/choice-fields.tsx";
import { Section } from "../ui/page-frame.tsx";
import { AddressField } from "./channel-state.tsx";
import { KeysSection } from "./keys-section.tsx";
import type { KeyRight } from "./keys-section.tsx";
import { KEY_PLACEHOLDER, TOOL_CLIENTS, toolSnippet } from "./snippets.ts";
import type { ToolClient } from "./snippets.ts";
import { useAddress } from "./use-address.ts";

interface Tool {
  name: string;
  scope: Scope;
  text: TextKey;
}

/** The tools, each with the scope that a key needs. */
const TOOLS: readonly Tool[] = [
  { name: "svc_search_kb", scope: "kb:read", text: "tools.searchKb" },
  { name: "svc_list_kbs", scope: "kb:read", text: "tools.listKbs" },
  { name: "svc_list_agents", scope: "agents:read", text: "tools.listAgents" },
  { name: "svc_execute_agent", scope: "agents:execute", text: "tools.executeAgent" },
  { name: "svc_summarize_notes", scope: "agents:execute", text: "tools.summarizeNotes" },
  { name: "svc_list_tickets", scope: "tickets:read", text: "tools.listTickets" },
  { name: "svc_get_ticket", scope: "tickets:read", text: "tools.getTicket" },
  { name: "svc_submit_issue", scope: "messages:write", text: "tools.submitIssue" },
];

const RIGHTS: readonly KeyRight[] = [
  { id: "search", text: "right.toolsKnowledge", scopes: ["kb:read"], isUsual: true },
  { id: "agents", text: "right.toolsAgents", scopes: ["agents:read", "agents:execute"], isUsual: true },
  { id: "tickets", text: "right.toolsTickets", scopes: ["tickets:read"], isUsual: false },
  { id: "issues", text: "right.toolsIssues", scopes: ["messages:write"], isUsual: false },
];

/** Names of the programs, and where to paste the configuration. */
const CLIENTS = {
  "claude-code": { name: "Claude Code", where: "tools.claudeCode" },
  "claude-desktop": { name: "Claude Desktop", where: "tools.claudeDesktop" },
  vscode: { name: "VS Code", where: "tools.vscode" },
  cursor: { name: "Cursor", where: "tools.cursor" },
  zed: { name: "Zed", where: "tools.zed" },
  obsidian: { name: "Obsidian", where: "tools.obsidian" },
  n8n: { name: "n8n", where: "tools.n8n" },
} as const satisfies Record<ToolClient, { name: string; where: TextKey }>;

/** The tool server: configurations for programs, their keys, and the permissions of keys. */
export function ToolServerPart() {
  const { t } = useTexts();
  const project = useProject();
  const address = useAddress("tool-server");
  const [key, setKey] = useState<string | null>(null);
  return (
    <div className="flex flex-col gap-4">
      <KeysSection text={t("tools.keysText")} suggestedName={t("tools.keyName")} rights={RIGHTS} onMade={setKey} />
      <Section title={t("tools.setUp")} text={t(key === null ? "tools.setUpText" : "tools.setUpWithKey")}>
        <Tabs.Root defaultValue="claude-code">
          <TabList
            label={t("tools.setUp")}
            tabs={TOOL_CLIENTS.map((value) => ({ value, label: CLIENTS[value].name }))}
          />
          {TOOL_CLIENTS.map((client) => (
            <Tabs.Content key={client} value={client} className="flex flex-col gap-2">
              <p className="text-sm text-muted">{t(CLIENTS[client].where)}</p>
              <CopyBox label={CLIENTS[client].name} text={toolSnippet(client, address.url, key ?? KEY_PLACEHOLDER)} />
            </Tabs.Content>
          ))}
        </Tabs.Root>
        <AddressField address={address} />
      </Section>
      <Section title={t("tools.title")} text={t("tools.text", { project })}>
        <div className="overflow-x-auto" tabIndex={0} role="region" aria-label={t("tools.title")}>
          <table className="w-full min-w-md text-left text-sm">
            <thead className="text-xs text-muted">
              <tr>
                <th scope="col" className="py-1 pr-4 font-medium">
                  {t("tools.tool")}
                </th>
                <th scope="col" className="py-1 pr-4 font-medium">
                  {t("tools.does")}
                </th>
                <th scope="col" className="py-1 font-medium">
                  {t("tools.scope")}
                </th>
              </tr>
            </thead>
            <tbody className="divide-y divide-line">
              {TOOLS.map(({ name, scope, text }) => (
                <tr key={name}>
                  <td className="py-1.5 pr-4 font-mono text-xs">{name}</td>
                  <td className="py-1.5 pr-4">{t(text)}</td>
                  <td className="py-1.5 font-mono text-xs whitespace-nowrap text-muted">{scope}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </Section>
    </div>
  );
}
