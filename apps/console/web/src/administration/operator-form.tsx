import { Plus, X } from "lucide-react";
import type { OperatorRole, Operator } from "@svc/contracts";
import { useState } from "react";
import { FormDialog } from "../forms/form-dialog.tsx";
import { useTexts } from "../i18n/texts.ts";
import { useServices, useSession, useProject } from "../session/services.ts";
import { Button, IconButton } from "../ui/button.tsx";
import { SelectField, Field } from "../ui/field.tsx";

/** A role in one project, or in all of them (`*`). */
interface Role {
  project: string;
  role: OperatorRole;
}

const ROLES = ["administrator", "operator", "viewer"] as const satisfies readonly OperatorRole[];
const EVERYWHERE = "*";

/** The roles of an operator: one for each project, and one for all of them. */
function RolesField({ roles, onChange }: { roles: readonly Role[]; onChange: (roles: Role[]) => void }) {
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

/** Makes an operator, or changes the one that is given. */
export function OperatorForm({
  item,
  onSaved,
  onClose,
}: {
  item: Operator | null;
  onSaved: (operator: Operator) => void;
  onClose: () => void;
}) {
  const { t } = useTexts();
  const { connection, queryClient } = useServices();
  const project = useProject();
  const [name, setName] = useState(item?.name ?? "");
  const [email, setEmail] = useState(item?.email ?? "");
  const [roles, setRoles] = useState<Role[]>(item?.roles ?? [{ project, role: "operator" }]);
  const title = item === null ? t("operators.make") : t("operators.change", { name: item.name });

  async function submit() {
    const body = { name: name.trim(), email: email.trim(), roles };
    const answer =
      item === null
        ? await connection.call("createOperator", null, { body })
        : await connection.call("updateOperator", null, { params: { id: item.id }, body, ifMatch: item.version });
    void queryClient.invalidateQueries({ queryKey: ["operators"] });
    // It may be oneself.
    void queryClient.invalidateQueries({ queryKey: ["session"] });
    onSaved(answer.item);
  }

  return (
    <FormDialog
      title={title}
      action={t(item === null ? "operators.make" : "ui.save")}
      onSubmit={submit}
      onClose={onClose}
    >
      <Field
        label={t("operators.name")}
        value={name}
        maxLength={200}
        required
        autoComplete="off"
        onChange={({ currentTarget }) => setName(currentTarget.value)}
      />
      <Field
        label={t("operators.email")}
        hint={t("operators.emailHint")}
        type="email"
        value={email}
        maxLength={254}
        required
        autoComplete="off"
        onChange={({ currentTarget }) => setEmail(currentTarget.value)}
      />
      <RolesField roles={roles} onChange={setRoles} />
    </FormDialog>
  );
}
