import { Plus, Trash2 } from "lucide-react";
import { useId, useState } from "react";
import type { HttpTool } from "@svc/contracts";
import { useTexts } from "../i18n/use-texts.ts";
import { Button } from "../ui/button.tsx";
import { Field, SelectField } from "../ui/field.tsx";
import { IconButton } from "../ui/icon-button.tsx";

type Bindings = NonNullable<HttpTool["bind"]>;
type Anonymous = NonNullable<HttpTool["anonymous"]>;

const SOURCES = ["customer.userId", "customer.email", "ticket.id", "chat.id"] as const satisfies Bindings[string][];
const ANONYMOUS = ["byArguments", "allow", "refuse"] as const satisfies readonly (Anonymous | "byArguments")[];

/** Which arguments of a tool the service fills in, and whether anonymous customers can cause its calls. */
export function BindFields({
  bind = {},
  anonymous = "byArguments",
  names = [],
  onChange,
}: {
  bind?: Bindings | undefined;
  anonymous?: Anonymous | "byArguments" | undefined;
  /** Arguments to propose, if they are known. */
  names?: readonly string[];
  onChange: (change: { bind?: Bindings; anonymous?: Anonymous | undefined }) => void;
}) {
  const { t } = useTexts();
  const listId = useId();
  const [typed, setTyped] = useState("");
  const added = typed.trim();
  const sources = SOURCES.map((value) => ({ value, label: t(`tools.source.${value}`) }));
  const set = (name: string, value: string) => {
    const source = SOURCES.find((one) => one === value);
    if (source !== undefined) onChange({ bind: { ...bind, [name]: source } });
  };
  return (
    <fieldset className="flex flex-col gap-2">
      <legend className="mb-1 text-sm font-medium">{t("tools.bind")}</legend>
      <p className="text-xs text-muted">{t("tools.bindHint")}</p>
      {Object.entries(bind).map(([name, source]) => (
        <div key={name} className="flex items-center gap-1.5">
          <code className="min-w-0 flex-1 font-mono text-xs font-semibold wrap-anywhere">{name}</code>
          <SelectField
            label={t("tools.bindSource", { name })}
            hidesLabel
            className="min-w-0 flex-1"
            value={source}
            options={sources}
            onChange={({ currentTarget }) => set(name, currentTarget.value)}
          />
          <IconButton
            icon={Trash2}
            label={t("tools.removeBind", { name })}
            onClick={() =>
              onChange({ bind: Object.fromEntries(Object.entries(bind).filter(([other]) => other !== name)) })
            }
          />
        </div>
      ))}
      <div className="flex items-end gap-2">
        <Field
          label={t("tools.bindArgument")}
          className="min-w-0 flex-1"
          list={listId}
          spellCheck={false}
          autoComplete="off"
          value={typed}
          onChange={({ currentTarget }) => setTyped(currentTarget.value)}
        />
        <datalist id={listId}>
          {names
            .filter((name) => !Object.hasOwn(bind, name))
            .map((name) => (
              <option key={name} value={name} />
            ))}
        </datalist>
        <Button
          disabled={added === "" || Object.hasOwn(bind, added)}
          onClick={() => {
            set(added, SOURCES[0]);
            setTyped("");
          }}
        >
          <Plus aria-hidden className="size-4" />
          {t("tools.addBind")}
        </Button>
      </div>
      <SelectField
        label={t("tools.anonymous")}
        hint={t("tools.anonymousHint")}
        value={anonymous}
        options={ANONYMOUS.map((value) => ({ value, label: t(`tools.anonymous.${value}`) }))}
        onChange={({ currentTarget: { value } }) =>
          onChange({ anonymous: value === "allow" || value === "refuse" ? value : undefined })
        }
      />
    </fieldset>
  );
}
