import type { ModelSettings } from "@svc/contracts";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { SubmitEvent } from "react";
import { FormError, useFields } from "../forms/form-dialog.tsx";
import { useAction } from "../forms/use-settings-form.ts";
import { useTexts } from "../i18n/texts.ts";
import { useServices } from "../session/services.ts";
import { Button } from "../ui/button.tsx";
import { ConfirmDialog } from "../ui/dialog.tsx";
import { Field, SelectField } from "../ui/field.tsx";
import { describeSentence } from "../ui/describe-error.ts";
import { Notice, QueryView } from "../ui/notice.tsx";
import { Section } from "../ui/page-frame.tsx";

/** Common API URLs by provider; other servers have custom ones. */
const PROVIDERS = {
  ollama: "http://localhost:11434/v1",
  openai: "https://api.openai.com/v1",
  anthropic: "https://api.anthropic.com/v1",
  other: "",
} as const;
type Provider = keyof typeof PROVIDERS;
const NAMES: Record<Exclude<Provider, "other">, string> = {
  ollama: "Ollama",
  openai: "OpenAI",
  anthropic: "Anthropic",
};

const QUERY_KEY = ["model-settings"];

function providerOf(baseUrl: string): Provider {
  const known = Object.entries(PROVIDERS).find(([, url]) => url !== "" && url === baseUrl);
  if (known !== undefined) return known[0] as Provider;
  return baseUrl.includes(":11434") ? "ollama" : "other";
}

type Tested = { model: string; models: string[]; problem: string | null; ms: number };

/** Offers an available Ollama server, while no server is set. */
function FoundServers({ onUse }: { onUse: (baseUrl: string, models: string[]) => void }) {
  const { t } = useTexts();
  const { connection } = useServices();
  const found = useQuery({
    queryKey: ["model-servers"],
    queryFn: async ({ signal }) => (await connection.call("findModelServers", null, { signal })).items,
  });
  const [server] = found.data ?? [];
  if (server === undefined) return null;
  const { baseUrl, models } = server;
  return (
    <Notice action={<Button onClick={() => onUse(baseUrl, models)}>{t("models.useFound")}</Button>}>
      {t("models.found", { url: baseUrl })}
    </Notice>
  );
}

function TestResult({ tested: { model, models, problem, ms } }: { tested: Tested }) {
  const { number, t } = useTexts();
  return (
    <div role="status">
      {problem === null ? (
        <Notice>{t("models.testPassed", { model, seconds: number(Math.round(ms / 100) / 10) })}</Notice>
      ) : (
        <Notice variant="warn">
          {describeSentence(problem, t) ?? problem}
          {models.length > 0 && model === "" && <> {t("models.choose", { models: models.slice(0, 5).join(", ") })}</>}
        </Notice>
      )}
    </div>
  );
}

/** Holds the fields of the server, and tests, stores and removes it. */
function useServerForm(settings: ModelSettings) {
  const { t } = useTexts();
  const { connection, queryClient } = useServices();
  const { values, field } = useFields({
    baseUrl: settings.baseUrl ?? PROVIDERS.ollama,
    apiKey: "",
    model: settings.model ?? "",
  });
  const [tested, setTested] = useState<Tested | null>(null);
  const { isBusy, error, run, runAside } = useAction();
  const isSameServer = values.baseUrl === settings.baseUrl;
  const isKept = settings.apiKey !== null && isSameServer;
  const model = values.model.trim();
  const apiKey = values.apiKey.trim();
  const body = {
    baseUrl: values.baseUrl,
    // The form has no field for it: a proxy of Anthropic's API that was set elsewhere is kept.
    ...(isSameServer && settings.api !== null ? { api: settings.api } : {}),
    model: model === "" ? null : model,
    ...(apiKey === "" ? (isKept ? {} : { apiKey: null }) : { apiKey }),
  };

  function changeUrl(baseUrl: string) {
    field("baseUrl").onChange(baseUrl);
    setTested(null);
  }
  async function store(change: () => Promise<ModelSettings>) {
    queryClient.setQueryData(QUERY_KEY, await change());
    await queryClient.invalidateQueries({ queryKey: ["models"] });
  }
  const test = () =>
    run(async () => setTested({ ...(await connection.call("testModelSettings", null, { body })), model }));
  const save = () =>
    runAside(async () => {
      await store(() => connection.call("setModelSettings", null, { body }));
      field("apiKey").onChange("");
      return t("models.saved");
    });
  const remove = () =>
    runAside(async () => {
      await store(() => connection.call("removeModelSettings", null, {}));
      return t("models.removed");
    });
  return { values, field, tested, isBusy, error, isKept, changeUrl, test, save, remove };
}

type ServerFormState = ReturnType<typeof useServerForm>;

/** The fields of the server; its models can be chosen after a test. */
function ServerFields({ values, field, tested, isKept, changeUrl }: ServerFormState) {
  const { t } = useTexts();
  return (
    <>
      <SelectField
        label={t("models.provider")}
        value={providerOf(values.baseUrl)}
        options={(Object.keys(PROVIDERS) as Provider[]).map((value) => ({
          value,
          label: value === "other" ? t("models.otherProvider") : NAMES[value],
        }))}
        onChange={(provider) => changeUrl(PROVIDERS[provider])}
      />
      <Field
        label={t("models.url")}
        hint={t("models.urlHint")}
        type="url"
        required
        spellCheck={false}
        value={values.baseUrl}
        onChange={changeUrl}
      />
      <Field
        label={t("models.key")}
        hint={t(isKept ? "models.keyKept" : "models.keyHint")}
        type="password"
        autoComplete="off"
        maxLength={512}
        {...field("apiKey")}
      />
      <Field
        label={t("models.agentModel")}
        hint={t("models.agentModelHint")}
        list="models-of-server"
        spellCheck={false}
        autoComplete="off"
        maxLength={200}
        {...field("model")}
      />
      <datalist id="models-of-server">
        {tested?.models.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
    </>
  );
}

/** Asks before the server is removed, or saved although its last test failed. */
function ConfirmChange({
  change,
  save,
  remove,
  onClose,
}: Pick<ServerFormState, "save" | "remove"> & { change: "save" | "remove"; onClose: () => void }) {
  const { t } = useTexts();
  const texts = {
    save: { title: "models.saveFailedTitle", action: "models.saveFailed", text: "models.saveFailedText" },
    remove: { title: "models.removeTitle", action: "models.remove", text: "models.removeText" },
  } as const;
  const { title, action, text } = texts[change];
  return (
    <ConfirmDialog
      title={t(title)}
      action={t(action)}
      onConfirm={async () => {
        await (change === "save" ? save() : remove());
        onClose();
      }}
      onClose={onClose}
    >
      {t(text)}
    </ConfirmDialog>
  );
}

/** The form of the server; its values are sent for a test, and stored. */
function ServerForm({ settings }: { settings: ModelSettings }) {
  const { t } = useTexts();
  const form = useServerForm(settings);
  const { field, tested, isBusy, error, changeUrl, test, save, remove } = form;
  const [asked, setAsked] = useState<"save" | "remove" | null>(null);
  const hasFailed = tested !== null && tested.problem !== null && tested.model === form.values.model.trim();
  function submit(event: SubmitEvent<HTMLFormElement>) {
    event.preventDefault();
    if (hasFailed) setAsked("save");
    else void save();
  }
  function takeFound(baseUrl: string, [model = ""]: string[]) {
    changeUrl(baseUrl);
    field("model").onChange(model);
  }
  return (
    <form onSubmit={submit} className="flex flex-col gap-4">
      {settings.source === null && <FoundServers onUse={takeFound} />}
      <ServerFields {...form} />
      {tested !== null && <TestResult tested={tested} />}
      <FormError error={error} />
      <div className="flex flex-wrap gap-2">
        <Button type="submit" variant="primary" disabled={isBusy}>
          {t("models.save")}
        </Button>
        <Button disabled={isBusy} onClick={() => void test()}>
          {t(isBusy ? "models.testing" : "models.test")}
        </Button>
        {settings.source === "stored" && (
          <Button disabled={isBusy} onClick={() => setAsked("remove")}>
            {t("models.remove")}
          </Button>
        )}
      </div>
      {asked !== null && <ConfirmChange change={asked} save={save} remove={remove} onClose={() => setAsked(null)} />}
    </form>
  );
}

/** The installation's server for language models, for administrators. */
export function ModelServer() {
  const { t } = useTexts();
  const { connection } = useServices();
  const settings = useQuery({
    queryKey: QUERY_KEY,
    queryFn: ({ signal }) => connection.call("getModelSettings", null, { signal }),
  });
  return (
    <Section title={t("models.server")} text={t("models.serverText")}>
      <QueryView query={settings} skeleton="h-40 w-full rounded-lg">
        {(known) =>
          known.source === "environment" ? (
            <Notice>{t("models.fixed", { url: known.baseUrl ?? "" })}</Notice>
          ) : (
            <ServerForm settings={known} />
          )
        }
      </QueryView>
    </Section>
  );
}
