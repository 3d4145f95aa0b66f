/** Texts of the guide for a first administrator. */
export const enFirstRun = {
  "firstRun.text": "From an empty installation to a first message that is answered. It takes a few minutes.",
  "firstRun.leave": "To the inbox",
  "firstRun.open": "Not done yet",
  "firstRun.kbName": "Knowledge",
  "firstRun.guideLeft": "{agent} answers from your documents now, and no longer from the guide of this service.",
  "firstRun.teach": "Teach it what your customers ask",
  "firstRun.teachText":
    "Drop files here, or add a page of your site: answers quote them. What comes with the service is its own guide only.",
  "firstRun.reading": {
    one: "{n} document is there; it is being read.",
    other: "{n} documents are there; they are being read.",
  },
  "firstRun.taught": { one: "{n} document is there.", other: "{n} documents are there." },
  "firstRun.seeKb": "See “{name}”",
  "firstRun.channel": "Choose where people write",
  "firstRun.channelText":
    "A chat on your site, Telegram, or your own programs by the HTTP API. One is enough to begin with.",
  "firstRun.channelDone": "People can write to you.",
  "firstRun.test": "Send a test message",
  "firstRun.testText": "Write as a customer would. It goes the way of every message, and the answer appears here.",
  "firstRun.message": "Message",
  "firstRun.messageHint": "For example: How do I reset my password?",
  "firstRun.send": "Send",
  "firstRun.tested": "A message was answered. You are ready.",
  "firstRun.held": "The agent is not sure enough to send this by itself. It waits for you:",
  "firstRun.unanswered":
    "The agent found no answer, and the ticket waits for a person. Teach it what is asked, and send another message.",
  "firstRun.failed": "The message could not be worked on. Its ticket says why.",
  "firstRun.openTicket": "Open the ticket",
} as const;
