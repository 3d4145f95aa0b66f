import { linkOptions, useParams } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { ChannelItem, ServiceAddress } from "@svc/contracts";
import { channelOf, isBotChannel } from "../api/channels.ts";
import { useTexts } from "../i18n/texts.ts";
import { useProject, useRights } from "../session/services.ts";
import { Switch } from "../ui/choice-fields.tsx";
import { ErrorNotice, Notice, Skeleton } from "../ui/notice.tsx";
import { MissingPage, PageFrame } from "../ui/page-frame.tsx";
import { BotPart } from "./bot-part.tsx";
import { StateLine, serviceStateOf } from "./channel-state.tsx";
import { HttpApiPart } from "./http-api-part.tsx";
import { findIntegration } from "./integrations.ts";
import type { Integration } from "./integrations.ts";
import { ToolServerPart } from "./tool-server-part.tsx";
import { useServiceAddresses } from "./use-address.ts";
import { useChannelSwitch, useChannels } from "./use-channel.ts";
import { WidgetPart } from "./widget-part.tsx";

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
  const part = item !== undefined && isBotChannel(item) ? <BotPart channel={item} /> : parts[integration.id];
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
