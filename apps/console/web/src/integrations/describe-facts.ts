import type { ChannelItem } from "@svc/contracts";
import { channelOf, isBotChannel } from "../api/channels.ts";
import type { Texts } from "../i18n/create-texts.ts";

/** What a card says of a channel's settings: a few facts, the ones that matter for whoever looks in passing. */
export function describeFacts(channel: ChannelItem, { t, number }: Texts): { label: string; value: string }[] {
  const api = channelOf([channel], "api");
  if (api !== undefined) {
    const { bindHost, webhookSecret } = api.config;
    return [
      { label: t("api.reach"), value: t(bindHost === "127.0.0.1" ? "api.reachLocal" : "api.reachNetwork") },
      { label: t("api.callbacks"), value: t(webhookSecret === null ? "api.signedByKey" : "api.signedBySecret") },
    ];
  }
  const widget = channelOf([channel], "widget");
  if (widget !== undefined) {
    const { allowedOrigins, project } = widget.config;
    const [first = ""] = allowedOrigins;
    const sites =
      allowedOrigins.length === 0
        ? t("widget.anySite")
        : allowedOrigins.length === 1
          ? first
          : t("widget.sites", { first, count: number(allowedOrigins.length - 1) });
    return project === null
      ? [{ label: t("widget.project"), value: t("widget.otherProject") }]
      : [
          { label: t("widget.originsShort"), value: sites },
          { label: t("widget.project"), value: project },
        ];
  }
  if (!isBotChannel(channel)) return [];
  const value = t(channel.config.botToken === null ? "bot.noToken" : "bot.hasToken");
  return [{ label: t("bot.token"), value }];
}
