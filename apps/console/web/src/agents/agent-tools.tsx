import { Pencil, Plus, Trash2 } from "lucide-react";
import { useState } from "react";
import type { AgentTool } from "@svc/contracts";
import { useTexts } from "../i18n/use-texts.ts";
import { Badge } from "../ui/badge.tsx";
import { Button } from "../ui/button.tsx";
import { IconButton } from "../ui/icon-button.tsx";
import { NEW_TOOLS } from "./tool-draft.ts";
import { ToolDialog } from "./tool-dialog.tsx";

const KINDS = ["http", "mcp"] as const satisfies readonly AgentTool["type"][];

/** Which tool is being written: one of the list by its place, or a new one. */
type Open = { place: number } | { kind: AgentTool["type"] } | null;

/** What an agent's language model may call. Changes are saved with the agent. */
export function AgentTools({
  tools,
  fault,
  isDisabled,
  onChange,
}: {
  tools: readonly AgentTool[];
  fault: string | undefined;
  isDisabled: boolean;
  onChange: (tools: AgentTool[]) => void;
}) {
  const { t } = useTexts();
  const [open, setOpen] = useState<Open>(null);
  const place = open !== null && "place" in open ? open.place : tools.length;
  const opened = open === null ? undefined : "kind" in open ? NEW_TOOLS[open.kind] : tools[open.place];
  return (
    <div className="flex flex-col gap-3">
      {tools.length === 0 ? (
        <p className="text-sm text-muted">{t("agents.noTools")}</p>
      ) : (
        <ul className="divide-y divide-line rounded-lg border border-line">
          {tools.map((tool, index) => (
            <li key={tool.name} className="flex items-start gap-2 py-2 pr-1.5 pl-3">
              <div className="flex min-w-0 flex-1 flex-wrap items-center gap-x-2 gap-y-1 text-sm">
                <code className="font-mono text-xs font-semibold wrap-anywhere">{tool.name}</code>
                <Badge>{tool.type === "http" ? tool.method : "MCP"}</Badge>
                {tool.type === "http" && tool.access === "write" && <Badge tone="warn">{t("tool.write")}</Badge>}
                {tool.type === "http" && tool.approval === "operator" && (
                  <Badge tone="accent">{t("agents.asks")}</Badge>
                )}
                <span className="w-full text-xs wrap-anywhere text-muted">{tool.url}</span>
              </div>
              {!isDisabled && (
                <>
                  <IconButton
                    icon={Pencil}
                    size="small"
                    label={t("tools.change", { name: tool.name })}
                    onClick={() => setOpen({ place: index })}
                  />
                  <IconButton
                    icon={Trash2}
                    size="small"
                    label={t("tools.remove", { name: tool.name })}
                    onClick={() => onChange(tools.filter((_, other) => other !== index))}
                  />
                </>
              )}
            </li>
          ))}
        </ul>
      )}
      {fault !== undefined && (
        <p role="alert" className="text-xs wrap-anywhere text-bad">
          {fault}
        </p>
      )}
      {!isDisabled && (
        <div className="flex flex-wrap gap-2">
          {KINDS.map((kind) => (
            <Button key={kind} size="small" onClick={() => setOpen({ kind })}>
              <Plus aria-hidden className="size-3.5" />
              {t(`tools.new.${kind}`)}
            </Button>
          ))}
        </div>
      )}
      {opened !== undefined && (
        <ToolDialog
          tool={opened}
          isNew={place === tools.length}
          takenNames={tools.filter((_, index) => index !== place).map(({ name }) => name)}
          onDone={(tool) => {
            onChange([...tools.slice(0, place), tool, ...tools.slice(place + 1)]);
            setOpen(null);
          }}
          onClose={() => setOpen(null)}
        />
      )}
    </div>
  );
}
