import type { Agent } from "@svc/contracts";
import { useTexts } from "../i18n/use-texts.ts";
import { Badge } from "../ui/badge.tsx";

/** What an agent's language model may call. Shown only: tools and their secrets are set by the API. */
export function AgentTools({ tools }: { tools: Agent["tools"] }) {
  const { t } = useTexts();
  if (tools.length === 0) return <p className="text-sm text-muted">{t("agents.noTools")}</p>;
  return (
    <ul className="divide-y divide-line rounded-lg border border-line">
      {tools.map((tool) => (
        <li key={tool.name} className="flex flex-wrap items-center gap-x-2 gap-y-1 px-3 py-2 text-sm">
          <code className="font-mono text-xs font-semibold">{tool.name}</code>
          <Badge>{tool.type === "http" ? tool.method : "MCP"}</Badge>
          {tool.type === "http" && tool.access === "write" && <Badge tone="warn">{t("tool.write")}</Badge>}
          {tool.type === "http" && tool.approval === "operator" && <Badge tone="accent">{t("agents.asks")}</Badge>}
          <span className="w-full text-xs wrap-anywhere text-muted">{tool.url}</span>
        </li>
      ))}
    </ul>
  );
}
