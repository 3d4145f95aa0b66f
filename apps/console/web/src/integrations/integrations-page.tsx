import { linkOptions } from "@tanstack/react-router";
import { ChevronRight } from "lucide-react";
import type { ChannelItem, ServiceAddress } from "@svc/contracts";
import { channelOf } from "../api/administration.ts";
import { useTexts } from "../i18n/texts.ts";
import { useProject, useRights } from "../session/services.ts";
import { Switch } from "../ui/choice-fields.tsx";
import { ErrorNotice, Notice, Skeleton } from "../ui/notice.tsx";
import { LinkCard, PageFrame } from "../ui/page-frame.tsx";
import { StateLine, serviceStateOf } from "./channel-state.tsx";
import { describeFacts, INTEGRATIONS } from "./integrations.ts";
import type { Integration } from "./integrations.ts";
import { useAddress, useServiceAddresses } from "./snippets.ts";
import { useChannelSwitch, useChannels } from "./use-channel.ts";

function CardSwitch({ channel, name }: { channel: ChannelItem; name: string }) {
  const { t } = useTexts();
  const { isBusy, set } = useChannelSwitch(channel.id, name);
  const mayDo = useRights();
  return (
    <div className="relative z-10">
      <Switch
        label={t("integrations.isOn", { name })}
        hidesLabel
        isOn={channel.enabled}
        disabled={isBusy || !mayDo("admin:*")}
        onChange={set}
      />
    </div>
  );
}

const Facts = ({ facts }: { facts: readonly { label: string; value: string }[] }) => (
  <dl className="mt-3.5 grid grid-cols-[minmax(6rem,auto)_1fr] gap-x-4 gap-y-1 text-sm">
    {facts.map(({ label, value }) => (
      <div key={label} className="contents">
        <dt className="text-muted">{label}</dt>
        <dd className="min-w-0 truncate" title={value}>
          {value}
        </dd>
      </div>
    ))}
  </dl>
);

function Card({
  integration,
  channels,
  addresses,
}: {
  integration: Integration;
  channels: ChannelItem[];
  addresses: ServiceAddress[];
}) {
  const texts = useTexts();
  const { t } = texts;
  const project = useProject();
  const { icon, id, address: addressId, text, title } = integration;
  const name = t(title);
  const channel = channelOf(channels, id);
  const position = addresses.find((other) => other.id === addressId);
  const { url } = useAddress(addressId ?? "api");
  const doing = channel ?? serviceStateOf(position);
  const error = channel?.error ?? null;
  const isCalled = addressId !== null && url !== "";
  const address = isCalled ? [{ label: t("integrations.address"), value: url + integration.path }] : [];
  const facts = [...address, ...(channel === undefined ? [] : describeFacts(channel, texts))];
  return (
    <LinkCard
      icon={icon}
      title={name}
      link={linkOptions({ to: "/$project/integrations/$integration", params: { project, integration: id } })}
      text={t(text)}
      isWhole
      beside={channel !== undefined && <CardSwitch channel={channel} name={name} />}
    >
      <div className="mt-4">
        <StateLine doing={doing} />
      </div>
      {error !== null && (
        <div className="mt-2.5">
          <Notice variant="bad">{error}</Notice>
        </div>
      )}
      {facts.length > 0 && <Facts facts={facts} />}
      <p aria-hidden className="mt-auto flex items-center gap-0.5 pt-4 text-sm font-medium text-accent">
        {t("integrations.open")}
        <ChevronRight className="size-4" />
      </p>
    </LinkCard>
  );
}

/** All integrations, with their states. */
export function IntegrationsPage() {
  const { t } = useTexts();
  const channels = useChannels();
  const addresses = useServiceAddresses();
  return (
    <PageFrame title={t("nav.integrations")} text={t("integrations.text")}>
      {channels.isError && channels.data === undefined ? (
        <ErrorNotice error={channels.error} onRetry={() => void channels.refetch()} />
      ) : (
        <ul className="grid gap-4 lg:grid-cols-2" aria-busy={channels.isPending}>
          {INTEGRATIONS.map((integration) =>
            channels.data === undefined ? (
              <li key={integration.id}>
                <Skeleton className="h-56 w-full rounded-xl" />
              </li>
            ) : (
              <Card
                key={integration.id}
                integration={integration}
                channels={channels.data}
                addresses={addresses.data ?? []}
              />
            ),
          )}
        </ul>
      )}
    </PageFrame>
  );
}
