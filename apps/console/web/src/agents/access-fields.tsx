import type { ToolAccess, ToolApproval } from "@svc/contracts";
import { useTexts } from "../i18n/use-texts.ts";
import { ChoiceGroup } from "../ui/choice-group.tsx";

/** Whether a tool changes something, and whether its calls wait for a person. */
export function AccessFields({
  access,
  approval,
  onChange,
}: {
  access: ToolAccess;
  approval: ToolApproval;
  onChange: (change: { access?: ToolAccess; approval?: ToolApproval }) => void;
}) {
  const { t } = useTexts();
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      <ChoiceGroup
        label={t("tools.access")}
        value={access}
        options={[
          { value: "read", label: t("tools.read") },
          { value: "write", label: t("tools.write") },
        ]}
        onChange={(value) => onChange({ access: value })}
      />
      <ChoiceGroup
        label={t("tools.approval")}
        value={approval}
        options={[
          { value: "auto", label: t("tools.auto") },
          { value: "operator", label: t("tools.operator") },
        ]}
        onChange={(value) => onChange({ approval: value })}
      />
    </div>
  );
}
