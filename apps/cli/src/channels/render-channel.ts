import type { ChannelItem } from "@svc/contracts";
import { renderFacts } from "../render-facts.ts";
import { safeLine } from "../safe-text.ts";

/** The tag that a page needs for the widget at this address, or null while the widget has no key. */
export function widgetTag({ config }: ChannelItem, widgetUrl: string): string | null {
  if (!("apiKey" in config) || config.apiKey === null) return null;
  return `<script async src="${widgetUrl}/widget.js" data-svc-widget data-api-key="${config.apiKey}"></script>`;
}

/** A channel with its settings, secrets masked, for people. */
export function renderChannel(item: ChannelItem, tag: string | null): string {
  const facts: [string, string][] = [
    ["channel", item.id],
    ["enabled", item.enabled ? "yes" : "no"],
    ...Object.entries(item.config).map(([name, value]): [string, string] => [name, safeLine(JSON.stringify(value))]),
  ];
  return tag === null ? renderFacts(facts) : `${renderFacts(facts)}\n\nScript tag for your pages:\n  ${safeLine(tag)}`;
}
