import type { RequiredScope } from "@svc/contracts";
import { useState } from "react";
import { FormDialog } from "../forms/form-dialog.tsx";
import { useTexts } from "../i18n/texts.ts";
import { useServices, useProject, useSession } from "../session/services.ts";
import { CheckBox } from "../ui/choice-fields.tsx";
import { Field, SelectField } from "../ui/field.tsx";
import { Notice } from "../ui/notice.tsx";

/** What a key can be given, by what it is about. Scopes that no operation asks for are left out. */
const KEY_SCOPES = {
  messages: ["messages:read", "messages:write"],
  tickets: ["tickets:read", "tickets:write"],
  kb: ["kb:read", "kb:write"],
  agents: ["agents:read", "agents:execute", "agents:write"],
  models: ["models:read", "models:write"],
  channels: ["channels:read"],
  webhooks: ["webhooks:read", "webhooks:write"],
  audit: ["audit:read"],
  privacy: ["privacy:read", "privacy:write"],
} as const satisfies Record<string, readonly RequiredScope[]>;

/** Today (`YYYY-MM-DD`), as this place has it. */
function today(): string {
  const day = new Date();
  return [day.getFullYear(), day.getMonth() + 1, day.getDate()].map((part) => String(part).padStart(2, "0")).join("-");
}

/** The end of a day (`YYYY-MM-DD`) of this place, as RFC 3339. */
const endOf = (day: string) => new Date(`${day}T23:59:59`).toISOString();

/** Asks what a new key should be, and makes it. */
export function KeyForm({ onMade, onClose }: { onMade: (key: string) => void; onClose: () => void }) {
  const { t } = useTexts();
  const { connection, queryClient } = useServices();
  const current = useProject();
  const { projects } = useSession();
  const [name, setName] = useState("");
  const [project, setProject] = useState(current);
  const [lastDay, setLastDay] = useState("");
  const [isAdministrator, setAdministrator] = useState(false);
  const [chosen, setChosen] = useState<ReadonlySet<RequiredScope>>(new Set());
  const [needsScope, setNeedsScope] = useState(false);

  const toggle = (scope: RequiredScope, isOn: boolean) =>
    setChosen((known) => new Set(isOn ? [...known, scope] : [...known].filter((other) => other !== scope)));

  async function submit() {
    const isMissing = !isAdministrator && chosen.size === 0;
    setNeedsScope(isMissing);
    if (isMissing) return;
    const { item } = await connection.call("createKey", null, {
      body: {
        name: name.trim(),
        ...(isAdministrator ? { scopes: ["admin:*"] } : { scopes: [...chosen], project }),
        ...(lastDay === "" ? {} : { expiresAt: endOf(lastDay) }),
      },
    });
    void queryClient.invalidateQueries({ queryKey: ["keys"] });
    onMade(item.key ?? "");
  }

  return (
    <FormDialog
      title={t("apiKeys.make")}
      action={t("apiKeys.make")}
      error={needsScope ? t("apiKeys.needsRight") : null}
      onSubmit={submit}
      onClose={onClose}
    >
      <Field
        label={t("apiKeys.name")}
        hint={t("apiKeys.nameHint")}
        value={name}
        maxLength={100}
        required
        onChange={({ currentTarget }) => setName(currentTarget.value)}
      />
      <div className="grid gap-4 sm:grid-cols-2">
        <SelectField
          label={t("project.label")}
          hint={t(isAdministrator ? "adminKeys.allProjects" : "adminKeys.projectHint")}
          value={project}
          disabled={isAdministrator}
          options={projects.map((other) => ({ value: other.name, label: other.name }))}
          onChange={({ currentTarget }) => setProject(currentTarget.value)}
        />
        <Field
          label={t("adminKeys.lastDay")}
          hint={t("adminKeys.lastDayHint")}
          type="date"
          min={today()}
          max="9999-12-30"
          value={lastDay}
          onChange={({ currentTarget }) => setLastDay(currentTarget.value)}
        />
      </div>
      <fieldset className="flex flex-col gap-2">
        <legend className="mb-2 text-sm font-medium">{t("adminKeys.scopes")}</legend>
        <CheckBox
          label={t("adminKeys.administrator")}
          hint={<code className="font-mono text-2xs">admin:*</code>}
          isOn={isAdministrator}
          onChange={setAdministrator}
        />
        {isAdministrator ? (
          <Notice look="warn">{t("adminKeys.administratorText")}</Notice>
        ) : (
          <ul className="divide-y divide-line rounded-lg border border-line">
            {Object.entries(KEY_SCOPES).map(([resource, scopes]) => (
              <li key={resource} className="flex flex-wrap gap-x-5 gap-y-2 px-3 py-2">
                {scopes.map((scope) => (
                  <div key={scope} className="w-36">
                    <CheckBox
                      label={<code className="font-mono text-xs">{scope}</code>}
                      isOn={chosen.has(scope)}
                      onChange={(isOn) => toggle(scope, isOn)}
                    />
                  </div>
                ))}
              </li>
            ))}
          </ul>
        )}
      </fieldset>
    </FormDialog>
  );
}
