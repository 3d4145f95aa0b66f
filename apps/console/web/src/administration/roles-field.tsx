import { Plus, X } from "lucide-react";
import type { OperatorRole } from "@svc/contracts";
import { useSession } from "../app/use-session.ts";
import { useTexts } from "../i18n/use-texts.ts";
import { Button } from "../ui/button.tsx";
import { SelectField } from "../ui/field.tsx";
import { IconButton } from "../ui/icon-button.tsx";

/** A role in one project, or in all of them (`*`). */
export interface Role {
  project: string;
  role: OperatorRole;
}

const ROLES = ["administrator", "operator", "viewer"] as const satisfies readonly OperatorRole[];
const EVERYWHERE = "*";

/** The roles of an operator: one for each project, and one for all of them. */
export function RolesField({ roles, onChange }: { roles: readonly Role[]; onChange: (roles: Role[]) => void }) {
  const { t } = useTexts();
  const { projects } = useSession();
  const all = [...new Set([EVERYWHERE, ...projects.map(({ name }) => name), ...roles.map(({ project }) => project)])];
  const free = all.filter((name) => !roles.some(({ project }) => project === name));
  const [next] = [...free.filter((name) => name !== EVERYWHERE), ...free];
  const nameOf = (project: string) => (project === EVERYWHERE ? t("adminKeys.all") : project);
  const change = (place: number, part: Partial<Role>) =>
    onChange(roles.map((role, index) => (index === place ? { ...role, ...part } : role)));
  return (
    <fieldset className="flex flex-col gap-2">
      <legend className="mb-1 text-sm font-medium">{t("operators.roles")}</legend>
      {roles.length === 0 && <p className="text-sm text-muted">{t("operators.noRole")}</p>}
      {roles.map(({ project, role }, place) => (
        <div key={project} className="flex items-center gap-2">
          <SelectField
            label={t("project.label")}
            hidesLabel
            className="min-w-0 flex-1"
            value={project}
            options={all
              .filter((name) => name === project || free.includes(name))
              .map((name) => ({ value: name, label: nameOf(name) }))}
            onChange={({ currentTarget }) => change(place, { project: currentTarget.value })}
          />
          <SelectField
            label={t("operators.roleIn", { project: nameOf(project) })}
            hidesLabel
            className="w-40"
            value={role}
            options={ROLES.map((value) => ({ value, label: t(`role.${value}`) }))}
            // The values are those of the options.
            onChange={({ currentTarget }) => change(place, { role: currentTarget.value as OperatorRole })}
          />
          <IconButton
            icon={X}
            label={t("operators.removeRole", { project: nameOf(project) })}
            onClick={() => onChange(roles.filter((_, index) => index !== place))}
          />
        </div>
      ))}
      {next !== undefined && (
        <Button
          size="small"
          className="self-start"
          onClick={() => onChange([...roles, { project: next, role: "operator" }])}
        >
          <Plus aria-hidden className="size-3.5" />
          {t("operators.addRole")}
        </Button>
      )}
      <p className="text-xs text-muted">{t("operators.rolesHint")}</p>
    </fieldset>
  );
}
