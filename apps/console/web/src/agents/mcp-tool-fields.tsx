import { Plus, Trash2 } from "lucide-react";
import { useState } from "react";
import type { McpTool } from "@svc/contracts";
import { useTexts } from "../i18n/use-texts.ts";
import { Button } from "../ui/button.tsx";
import { Field } from "../ui/field.tsx";
import { IconButton } from "../ui/icon-button.tsx";
import { TextArea } from "../ui/text-area.tsx";
import { AccessFields } from "./access-fields.tsx";
import { BindFields } from "./bind-fields.tsx";
import { readNames } from "./tool-draft.ts";

/** What is said of an MCP server whose tools an agent has. */
export function McpToolFields({ tool, onChange }: { tool: McpTool; onChange: (tool: McpTool) => void }) {
  const { t } = useTexts();
  const [allow, setAllow] = useState(() => tool.allow?.join("\n") ?? "");
  const [ruled, setRuled] = useState("");
  const name = ruled.trim();
  const setRule = (remote: string, change: McpTool["rules"][string]) =>
    onChange({ ...tool, rules: { ...tool.rules, [remote]: { ...tool.rules[remote], ...change } } });
  return (
    <>
      <Field
        label={t("tools.url")}
        hint={t("tools.mcpUrlHint")}
        placeholder="https://stock.example.com/mcp"
        required
        spellCheck={false}
        autoComplete="off"
        value={tool.url}
        onChange={({ currentTarget }) => onChange({ ...tool, url: currentTarget.value })}
      />
      <TextArea
        label={t("tools.allow")}
        hint={t("tools.allowHint")}
        rows={3}
        spellCheck={false}
        value={allow}
        onChange={({ currentTarget }) => {
          setAllow(currentTarget.value);
          onChange({ ...tool, allow: readNames(currentTarget.value) });
        }}
      />
      <fieldset className="flex flex-col gap-3">
        <legend className="mb-1 text-sm font-medium">{t("tools.rules")}</legend>
        <p className="text-xs text-muted">{t("tools.rulesHint")}</p>
        {Object.entries(tool.rules).map(([remote, { access = "write", approval = "operator", bind, anonymous }]) => (
          <div key={remote} className="rounded-lg border border-line p-3">
            <div className="mb-2 flex items-center justify-between gap-2">
              <code className="min-w-0 font-mono text-xs font-semibold wrap-anywhere">{remote}</code>
              <IconButton
                icon={Trash2}
                size="small"
                label={t("tools.removeRule", { name: remote })}
                onClick={() =>
                  onChange({
                    ...tool,
                    rules: Object.fromEntries(Object.entries(tool.rules).filter(([other]) => other !== remote)),
                  })
                }
              />
            </div>
            <div className="flex flex-col gap-4">
              <AccessFields access={access} approval={approval} onChange={(change) => setRule(remote, change)} />
              <BindFields bind={bind} anonymous={anonymous} onChange={(change) => setRule(remote, change)} />
            </div>
          </div>
        ))}
        <div className="flex items-end gap-2">
          <Field
            label={t("tools.ruleFor")}
            className="min-w-0 flex-1"
            spellCheck={false}
            autoComplete="off"
            value={ruled}
            onChange={({ currentTarget }) => setRuled(currentTarget.value)}
          />
          <Button
            disabled={name === "" || Object.hasOwn(tool.rules, name)}
            onClick={() => {
              setRule(name, { access: "write", approval: "operator" });
              setRuled("");
            }}
          >
            <Plus aria-hidden className="size-4" />
            {t("tools.addRule")}
          </Button>
        </div>
      </fieldset>
    </>
  );
}
