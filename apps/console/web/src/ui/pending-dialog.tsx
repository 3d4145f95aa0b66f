/** Opens the element as a modal dialog for as long as it is there; the focus then returns to where it was. */
function keepOpen(dialog: HTMLDialogElement) {
  dialog.showModal();
  return () => dialog.close();
}

/** Takes the keyboard while the script of a dialog loads: what is typed for the dialog must not run as commands. */
export const PendingDialog = () => <dialog ref={keepOpen} className="opacity-0 backdrop:bg-transparent" />;
