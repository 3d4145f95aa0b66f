import { linkOptions, useParams } from "@tanstack/react-router";
import { Tabs } from "radix-ui";
import { useState } from "react";
import type { ReactNode } from "react";
import type { ChannelItem, Scope, ServiceAddress } from "@svc/contracts";
import { channelOf, isBotChannel } from "../api/administration.ts";
import { CopyBox } from "../forms/copy-box.tsx";
import { useTexts } from "../i18n/texts.ts";
import type { TextKey } from "../i18n/texts.ts";
import { useProject, useRights } from "../session/services.ts";
import { Switch, TabList } from "../ui/choice-fields.tsx";
import { ErrorNotice, Notice, Skeleton } from "../ui/notice.tsx";
import { MissingPage, PageFrame, Section } from "../ui/page-frame.tsx";
import { BotPart } from "./bot-part.tsx";
import { AddressField, serviceStateOf, StateLine } from "./channel-state.tsx";
import { HttpApiPart } from "./http-api-part.tsx";
import { findIntegration } from "./integrations.ts";
import type { Integration } from "./integrations.ts";
import { KeysSection } from "./keys-section.tsx";
import type { KeyRight } from "./keys-section.tsx";
import { KEY_PLACEHOLDER, TOOL_CLIENTS, toolSnippet, useAddress, useServiceAddresses } from "./snippets.ts";
import type { ToolClient } from "./snippets.ts";
import { SecretsPart } from "./secrets-part.tsx";
import { useChannels, useChannelSwitch } from "./use-channel.ts";
import { WidgetPart } from "./widget-part.tsx";

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
function ToolServerPart() {
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

function HeadSwitch({ channel, name, disabled }: { channel: ChannelItem; name: string; disabled: boolean }) {
  const { t } = useTexts();
  const { isBusy, set } = useChannelSwitch(channel.id, name);
  return (
    <Switch
      label={t(channel.enabled ? "integrations.on" : "integrations.off")}
      isOn={channel.enabled}
      disabled={isBusy || disabled}
      onChange={set}
    />
  );
}

function Frame({
  integration,
  channel,
  address,
  children,
}: {
  integration: Integration;
  channel: ChannelItem | undefined;
  address: ServiceAddress | undefined;
  children: ReactNode;
}) {
  const { t } = useTexts();
  const project = useProject();
  const mayDo = useRights();
  const isAdministrator = mayDo("admin:*");
  const error = channel?.error ?? null;
  const replicas = channel?.replicas ?? [];
  return (
    <PageFrame
      back={{ link: linkOptions({ to: "/$project/integrations", params: { project } }), label: t("nav.integrations") }}
      title={t(integration.title)}
      text={t(integration.text)}
      actions={
        channel !== undefined && (
          <HeadSwitch channel={channel} name={t(integration.title)} disabled={!isAdministrator} />
        )
      }
    >
      <div className="mb-4 flex flex-col gap-2.5">
        <StateLine doing={channel ?? serviceStateOf(address)} />
        {replicas.length > 1 && (
          <p className="text-sm text-muted">
            {t("doing.replicas", {
              n: replicas.length,
              running: replicas.filter(({ state }) => state === "running").length,
            })}
          </p>
        )}
        {error !== null && <Notice variant="bad">{error}</Notice>}
        {!isAdministrator && <Notice>{t("integrations.readOnly")}</Notice>}
      </div>
      {children}
    </PageFrame>
  );
}

/** An integration: its settings, and the setup on the other side. */
export function IntegrationPage() {
  const { integration: id } = useParams({ from: "/$project/integrations/$integration" });
  const channels = useChannels();
  const addresses = useServiceAddresses();
  const integration = findIntegration(id);
  if (integration === null) return <MissingPage />;
  const list = channels.data ?? [];
  const channel = channelOf(list, integration.id);
  const api = channelOf(list, "api");
  const widget = channelOf(list, "widget");
  const parts: Partial<Record<Integration["id"], ReactNode>> = {
    api: api !== undefined && <HttpApiPart channel={api} />,
    widget: widget !== undefined && <WidgetPart channel={widget} />,
    "tool-server": <ToolServerPart />,
  };
  const item = list.find((one) => one.id === id);
  const secrets =
    item !== undefined && (isBotChannel(item) ? <BotPart channel={item} /> : <SecretsPart channel={item} />);
  const part = parts[integration.id] ?? secrets;
  return (
    <Frame
      integration={integration}
      channel={channel}
      address={addresses.data?.find(({ id: other }) => other === integration.address)}
    >
      {channels.isError && <ErrorNotice error={channels.error} onRetry={() => void channels.refetch()} />}
      {channels.isPending ? <Skeleton className="h-96 w-full rounded-xl" /> : part}
    </Frame>
  );
}
