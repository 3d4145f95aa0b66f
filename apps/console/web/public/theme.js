// Sets the colours that were chosen before anything is drawn, so that the page does not flash. The app's preferences
// (src/app/preferences.ts) write what is read here.
try {
  const chosen = JSON.parse(localStorage.getItem("console.preferences") ?? "{}").theme;
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
} catch {
  // Without storage, or with something else in it, the system's colours are used.
}
