import { useState } from "react";
import type { ReactNode, SubmitEvent } from "react";
import { ServiceError } from "@svc/client";
import type { LinkAnswer } from "@svc/contracts";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { openByLink, signIn } from "../api/session.ts";
import type { SignInWays } from "../api/session.ts";
import { useTexts } from "../i18n/texts.ts";
import type { TextKey } from "../i18n/texts.ts";
import { ReachBanner } from "../session/reach-banner.tsx";
import { useServices } from "../session/services.ts";
import { Button } from "../ui/button.tsx";
import { describeError, describeSsoError } from "../ui/describe-error.ts";
import { formText, Field } from "../ui/field.tsx";
import { ErrorNotice, Skeleton } from "../ui/notice.tsx";
import { usePageTitle } from "../ui/page-frame.tsx";

/** Layout of pages without a session. */
function EntryCard({ title, text, children }: { title: string; text?: string; children: ReactNode }) {
  usePageTitle(title);
  return (
    <main className="flex h-full items-center justify-center overflow-y-auto p-4">
      <div className="w-full max-w-sm rounded-2xl border border-line bg-surface p-7 shadow-pop">
        <img src="/icon.svg" alt="" width="40" height="40" className="mb-4" />
        <h1 className="text-xl font-semibold tracking-tight">{title}</h1>
        {text !== undefined && <p className="mt-1 text-sm text-muted">{text}</p>}
        <div className="mt-5">{children}</div>
      </div>
    </main>
  );
}

/** Copied from OPERATOR_LIMITS of the contracts; the server checks it. */
const PASSWORD_MIN_CHARS = 12;

const TITLES = {
  "first-administrator": { title: "link.firstTitle", text: "link.firstText" },
  password: { title: "link.passwordTitle", text: "link.passwordText" },
} as const satisfies Record<LinkAnswer["kind"], { title: TextKey; text: TextKey }>;

/** A field for a new password. */
function NewPasswordField({ label, hint, name }: { label: string; hint?: string; name: string }) {
  return (
    <Field
      label={label}
      hint={hint}
      name={name}
      type="password"
      autoComplete="new-password"
      minLength={PASSWORD_MIN_CHARS}
      required
    />
  );
}

/** The form of a link: name and email address of the first administrator, and the new password. */
function LinkForm({ token, link, onUsed }: { token: string; link: LinkAnswer; onUsed: () => Promise<unknown> }) {
  const { t } = useTexts();
  const { connection, queryClient } = useServices();
  const navigate = useNavigate();
  const [error, setError] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const isFirst = link.kind === "first-administrator";

  async function submit(event: SubmitEvent<HTMLFormElement>) {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const password = formText(form, "password");
    if (password !== formText(form, "again")) return setError(t("link.differ"));
    setBusy(true);
    setError(null);
    try {
      const who = isFirst ? { name: formText(form, "name"), email: formText(form, "email") } : {};
      const session = await openByLink(connection, { token, password, ...who });
      queryClient.setQueryData(["session"], session);
      await navigate({ to: "/", replace: true });
    } catch (cause) {
      setError(describeError(cause, t));
      setBusy(false);
      // The link was used after this page was opened.
      if (cause instanceof ServiceError && cause.status === 404) await onUsed();
    }
  }

  return (
    <form onSubmit={(event) => void submit(event)} className="flex flex-col gap-3.5">
      {isFirst ? (
        <>
          <Field label={t("link.name")} name="name" autoComplete="name" required autoFocus />
          <Field label={t("signIn.email")} name="email" type="email" autoComplete="username" required />
        </>
      ) : (
        <Field label={t("signIn.email")} type="email" autoComplete="username" value={link.email ?? ""} readOnly />
      )}
      <NewPasswordField
        label={t("signIn.password")}
        hint={t("link.passwordHint", { count: PASSWORD_MIN_CHARS })}
        name="password"
      />
      <NewPasswordField label={t("link.again")} name="again" />
      <p role="alert" className="text-sm text-bad empty:hidden">
        {error}
      </p>
      <Button type="submit" variant="primary" isBusy={isBusy} className="w-full">
        {t("link.submit")}
      </Button>
    </form>
  );
}

/** The page of a link with which the first administrator, or an operator who received it, chooses a password. */
export function LinkPage() {
  const { t } = useTexts();
  const { connection } = useServices();
  // In the fragment of the URL, which is not sent to servers.
  const [token] = useState(() => location.hash.slice(1));
  const link = useQuery({
    queryKey: ["link", token],
    queryFn: async ({ signal }) =>
      (await connection.send("POST", "/link/look", { body: { token }, signal })) as LinkAnswer,
    staleTime: Infinity,
  });

  if (link.error instanceof ServiceError && link.error.status === 404) {
    return (
      <EntryCard title={t("link.usedTitle")} text={t("link.usedText")}>
        <Link
          to="/sign-in"
          className="flex h-8 items-center justify-center rounded-md bg-accent px-3 text-sm font-medium text-on-accent hover:bg-accent-strong"
        >
          {t("link.toSignIn")}
        </Link>
      </EntryCard>
    );
  }
  const titles = TITLES[link.data?.kind ?? "password"];
  return (
    <EntryCard title={t(titles.title)} text={t(titles.text)}>
      {link.isPending && <Skeleton className="h-48 w-full" />}
      {link.isError && <ErrorNotice error={link.error} onRetry={() => void link.refetch()} />}
      {link.isSuccess && <LinkForm token={token} link={link.data} onUsed={link.refetch} />}
    </EntryCard>
  );
}

/** The sign-in page. */
export function SignInPage() {
  const { t } = useTexts();
  const { connection, queryClient } = useServices();
  const navigate = useNavigate();
  const { to = "/", fault: ssoError } = useSearch({ from: "/sign-in" });
  const [error, setError] = useState<string | null>(ssoError === undefined ? null : t(describeSsoError(ssoError)));
  const [isBusy, setBusy] = useState(false);
  const { data: ways } = useQuery({
    queryKey: ["sign-in-ways"],
    queryFn: async ({ signal }) => (await connection.send("GET", "/sign-in-ways", { signal })) as SignInWays,
  });

  async function submit(event: SubmitEvent<HTMLFormElement>) {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    setBusy(true);
    setError(null);
    try {
      const session = await signIn(connection, formText(form, "email"), formText(form, "password"));
      queryClient.setQueryData(["session"], session);
      await navigate({ href: to, replace: true });
    } catch (cause) {
      const isWrong = cause instanceof ServiceError && cause.status === 401;
      setError(isWrong ? t("signIn.wrong") : describeError(cause, t));
    } finally {
      setBusy(false);
    }
  }

  return (
    <EntryCard title={t("signIn.title")}>
      <div className="overflow-hidden rounded-md has-[p]:mb-3">
        <ReachBanner />
      </div>
      <form onSubmit={(event) => void submit(event)} className="flex flex-col gap-3.5">
        <Field label={t("signIn.email")} name="email" type="email" autoComplete="username" required autoFocus />
        <Field label={t("signIn.password")} name="password" type="password" autoComplete="current-password" required />
        <p role="alert" className="text-sm text-bad empty:hidden">
          {error}
        </p>
        <Button type="submit" variant="primary" isBusy={isBusy} className="w-full">
          {t("signIn.submit")}
        </Button>
      </form>
      {ways !== undefined && ways.oidc !== null && (
        <a
          href={ways.oidc.startUrl}
          className="mt-3 flex h-8 items-center justify-center rounded-md border border-line text-sm font-medium hover:bg-hover"
        >
          {t("signIn.sso", { name: ways.oidc.name })}
        </a>
      )}
    </EntryCard>
  );
}
