import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { SubmitEvent } from "react";
import type { ProjectItem } from "@svc/contracts";
import type { BotChannel } from "../api/administration.ts";
import { useAction } from "../forms/use-settings-form.ts";
import { useTexts } from "../i18n/texts.ts";
import { useServices, useProject, useRights } from "../session/services.ts";
import { Button } from "../ui/button.tsx";
import { describeError } from "../ui/describe-error.ts";
import { Field, TextArea } from "../ui/field.tsx";
import { OutLink } from "../ui/markdown.tsx";
import { QueryView } from "../ui/notice.tsx";
import { Section } from "../ui/page-frame.tsx";
import { ArrivalTest } from "./channel-state.tsx";
import { SecretForm } from "./secrets-part.tsx";
import { useChannelChange } from "./use-channel.ts";

/** How to get the token of a bot. */
function TokenSteps() {
  const { t } = useTexts();
  return (
    <ol className="mb-4 list-decimal space-y-1 pl-5 text-sm text-muted [&_a]:font-medium [&_a]:text-accent [&_a]:underline">
      <li>
        {t("bot.step1")} <OutLink href="https://t.me/BotFather">@BotFather</OutLink>
      </li>
      <li>{t("bot.step2")}</li>
      <li>{t("bot.step3")}</li>
    </ol>
  );
}

/** The token of the bot. */
function Token({ channel, disabled }: { channel: BotChannel; disabled: boolean }) {
  const { t } = useTexts();
  const change = useChannelChange();
  const isSet = channel.config.botToken !== null;
  return (
    <SecretForm
      name={t("bot.token")}
      isSet={isSet}
      disabled={disabled}
      label={t(isSet ? "bot.otherToken" : "bot.giveToken")}
      placeholder="123456789:AA…"
      action={t(isSet ? "bot.replace" : "bot.connect")}
      saved={t("bot.saved")}
      removed={t("bot.removed")}
      removeText={t("bot.removeText")}
      // A bot with a token is enabled, and one without a token cannot run.
      set={(botToken) => change(channel.id, { config: { botToken }, enabled: botToken !== null })}
    >
      {!isSet && <TokenSteps />}
    </SecretForm>
  );
}

/** Sends a test message to a chat that has written to the bot. */
function OutwardTest({ channel }: { channel: BotChannel }) {
  const { t } = useTexts();
  const { connection } = useServices();
  const project = useProject();
  const [chatId, setChatId] = useState("");
  const [result, setResult] = useState<{ isError: boolean; text: string } | null>(null);
  const [isBusy, setBusy] = useState(false);

  async function send(event: SubmitEvent<HTMLFormElement>) {
    event.preventDefault();
    setBusy(true);
    setResult(null);
    const body = chatId.trim() === "" ? {} : { chatId: chatId.trim() };
    try {
      const { item } = await connection.call("testChannel", project, { params: { id: channel.id }, body });
      const texts = {
        delivered: () => t("bot.testDelivered", { chat: item.chatId }),
        waiting: () => t("bot.testWaiting", { chat: item.chatId }),
        failed: () => t("bot.testFailed", { chat: item.chatId, why: item.failure ?? "" }),
      };
      setResult({ isError: item.state !== "delivered", text: texts[item.state]() });
    } catch (error) {
      setResult({ isError: true, text: describeError(error, t) });
    } finally {
      setBusy(false);
    }
  }
  return (
    <Section title={t("bot.test")}>
      <form onSubmit={(event) => void send(event)} className="flex flex-wrap items-start gap-2">
        <Field
          label={t("bot.testChat")}
          hint={t("bot.testHint")}
          inputMode="numeric"
          spellCheck={false}
          autoComplete="off"
          value={chatId}
          onChange={setChatId}
          className="min-w-0 flex-1 basis-64"
        />
        <div className="sm:pt-6">
          <Button type="submit" isBusy={isBusy}>
            {t("bot.testSend")}
          </Button>
        </div>
      </form>
      <p role="status" className={`text-sm ${result?.isError === true ? "text-bad" : "text-muted"}`}>
        {result?.text}
      </p>
    </Section>
  );
}

/** The form of the greeting. */
function GreetingForm({ item }: { item: ProjectItem }) {
  const { t } = useTexts();
  const { connection, queryClient, toasts } = useServices();
  const [typed, setTyped] = useState<string | null>(null);
  const { error, isBusy, run } = useAction();
  const { greeting, id, name, version } = item;
  const shown = typed ?? greeting;

  async function save(event: SubmitEvent<HTMLFormElement>) {
    event.preventDefault();
    if (typed === null) return;
    const isSaved = await run(async () => {
      const body = { greeting: typed.trim() };
      const saved = await connection.call("updateProject", null, { params: { id }, body, ifMatch: version });
      queryClient.setQueryData(["project", name], saved.item);
      setTyped(null);
      toasts.show({ kind: "done", text: t("integrations.saved") });
    });
    if (!isSaved) await queryClient.invalidateQueries({ queryKey: ["project", name] });
  }

  return (
    <form onSubmit={(event) => void save(event)} className="flex flex-col gap-2.5">
      <TextArea
        label={t("bot.greetingLabel")}
        hint={t("bot.greetingHint")}
        error={error}
        rows={3}
        maxLength={4_000}
        value={shown}
        onChange={setTyped}
      />
      <div className="flex justify-end">
        <Button type="submit" isBusy={isBusy} disabled={shown === greeting}>
          {t("ui.save")}
        </Button>
      </div>
    </form>
  );
}

/** The greeting of the project. */
function Greeting() {
  const { t } = useTexts();
  const { connection } = useServices();
  const project = useProject();
  const item = useQuery({
    queryKey: ["project", project],
    queryFn: async ({ signal }): Promise<ProjectItem | null> => {
      const { items } = await connection.call("listProjects", null, { query: { q: project }, signal });
      return items.find(({ name }) => name === project) ?? null;
    },
  });
  return (
    <Section title={t("bot.greeting")} text={t("bot.greetingText", { project })}>
      <QueryView query={item} skeleton="h-20 w-full">
        {(found) => found !== null && <GreetingForm item={found} />}
      </QueryView>
    </Section>
  );
}

/** A channel with a bot: its token, its greeting, and a test message. */
export function BotPart({ channel }: { channel: BotChannel }) {
  const { t } = useTexts();
  const mayDo = useRights();
  const isAdministrator = mayDo("admin:*");
  return (
    <div className="flex max-w-3xl flex-col gap-4">
      <Token channel={channel} disabled={!isAdministrator} />
      {channel.config.botToken !== null && (
        <ArrivalTest channelId={channel.id} text={t("bot.tryText")}>
          <p className="text-sm text-muted">{t("bot.tryHow")}</p>
        </ArrivalTest>
      )}
      {isAdministrator && channel.config.botToken !== null && <OutwardTest channel={channel} />}
      {isAdministrator && <Greeting />}
    </div>
  );
}
