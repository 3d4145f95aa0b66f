import type { enModels } from "./en-models.ts";
import type { TableLike } from "./text-table.ts";

/** Texts of the language models, in German. */
export const deModels: TableLike<typeof enModels> = {
  "administration.models": "Modelle",
  "models.text":
    "Sprachmodelle, mit denen Agenten antworten können: was die Server haben, und was ein Ollama-Server installieren kann.",
  "models.find": "Ein Modell finden",
  "models.none": "Noch keine Modelle",
  "models.noneText":
    "Ohne Modell zitieren Agenten ihr Wissen. Setzen Sie auf dem Server SVC_LLM_BASE_URL oder SVC_OLLAMA_BASE_URL.",
  "models.noMatch": "Nichts passt",
  "models.noMatchText": "Versuchen Sie andere Wörter, oder installieren Sie ein Modell nach seinem Namen.",
  "models.usable": "Benutzbar",
  "models.local": "Auf eigenen Rechnern",
  "models.away": "Bei einem Anbieter",
  "models.context": "liest {count} Tokens auf einmal",
  "models.usedBy": "benutzt von {names}",
  "models.pull": "Installieren",
  "models.pullOf": "{model} installieren",
  "models.pullOther": "Ein anderes Modell",
  "models.pulls": "Wird installiert",
  "models.name": "Name in Ollamas Bibliothek",
  "models.nameHint": "Mit seinem Tag, wie qwen3:8b; auch user/model:tag und hf.co/user/model:tag.",
  "models.cancel": "Anhalten",
  "models.cancelOf": "Installation von {model} anhalten",
  "models.cancelled": "{model} wird nicht weiter installiert. Was geladen ist, bleibt für das nächste Mal.",
  "models.installedNow": "{model} ist installiert",
  "models.beginning": "Beginnt …",
  "models.progress": "{share} · {done} von {total}",
  "models.progressOf": "Wie weit {model} installiert ist",
  "models.servers": "Server",
  "models.answers": "antwortet.",
  "models.noServer": "Kein Server hat ein installiertes Modell.",
  "models.default": "Welcher Agent welches benutzt",
  "models.defaultText":
    "Jeder Agent nennt sein Modell auf seiner Seite. Wer keines nennt, benutzt das des Servers (SVC_LLM_MODEL); ist dort keines gesetzt, zitiert er sein Wissen.",
  "models.usage": "Nutzung und Kosten",
  "models.usageText": "Was {project} in den letzten 30 Tagen von Modellen wissen wollte.",
  "models.noUsage": "Noch wurde kein Modell gefragt.",
  "models.model": "Modell",
  "models.calls": "Aufrufe",
  "models.faults": "Ohne Antwort",
  "models.input": "Tokens hinein",
  "models.output": "Tokens heraus",
  "models.cost": "Kosten",
  "models.noPrice": "Ohne Preis in SVC_LLM_PRICES sind keine Kosten bekannt.",
};
