/** The respondent's page: reads the form, and leaves everything else to cloister-client.js. */

import { Respondent, forgetEverything } from "./cloister-client.js";

const form = document.querySelector("#answers");
const status = document.querySelector("#status");
const sent = document.querySelector("#sent");
const bytes = document.querySelector("#sent-bytes");
const again = document.querySelector("#send-again");
const forget = document.querySelector("#forget");
const CLOSED = "urn:cloister:closed";
let linked = null; // the code in the link that was opened
const WORDS = {
  pending: "Your answers are ready and will be sent as soon as the service can be reached. You may close this page and come back.",
  sent: "Thank you. Your report was received.",
  missing: "Please fill in what is missing: it is marked.",
  forget: "Forget what this browser sent? It could answer again then, and the same answers would tell more about you.",
  other: "This browser has answered this survey already. The code in your link was not used: answer in another browser.",
};

function tell(words, kind = "") {
  status.textContent = words.charAt(0).toUpperCase() + words.slice(1);
  status.className = kind;
}

/** The answers in the form; null, and a word at each question, where some are missing. */
function readForm() {
  const answers = new Map();
  let first = null;
  for (const group of form.querySelectorAll("[data-question], [data-code]")) {
    const chosen = group.querySelector("input:checked, select, input[type=text]");
    const problem = group.querySelector(".problem");
    const isEmpty = chosen === null || chosen.selectedIndex === 0 || (chosen.type === "text" && chosen.value.trim() === "");
    problem.hidden = !isEmpty;
    for (const field of group.querySelectorAll("input, select")) field.setAttribute("aria-invalid", String(isEmpty));
    if (isEmpty) first ??= group.querySelector("input, select");
    else if (group.dataset.question !== undefined) answers.set(group.dataset.question, chosen.value);
  }
  if (first === null) return answers;
  tell(WORDS.missing, "problem");
  first.focus();
  return null;
}

function show(kept, isNews = false) {
  const isOver = isNews && kept?.state === "refused" && kept.problem.type === CLOSED; // and was open when the page was loaded
  const isDone = isOver || (kept !== null && kept.state !== "refused");
  if (form !== null) form.hidden = isDone;
  sent.hidden = kept === null;
  again.hidden = kept?.state !== "pending";
  forget.parentElement.hidden = kept === null;
  if (kept === null) return;
  if (kept.state === "sent") form?.reset(); // while it may still be refused the answers stay, to be sent again
  bytes.textContent = kept.body;
  const isOther = linked !== null && linked !== JSON.parse(kept.body).code;
  if (isOther) tell(kept.state === "refused" ? "" : WORDS.other, kept.state === "refused" ? "" : "problem");
  else if (kept.state === "refused") tell(`Your report was not taken. ${kept.problem.detail}`, "problem");
  else tell(WORDS[kept.state], kept.state);
}

/** The code of an invitation, as it is typed. */
function codeOf() {
  const field = form?.querySelector("#code");
  return field ? field.value.trim() : null;
}

/** Fill in the code that stands behind # in the address, which browsers do not send. */
function takeCode() {
  const field = form?.querySelector("#code");
  if (!field || location.hash.length < 2) return;
  field.value = linked = location.hash.slice(1);
  history.replaceState(null, "", location.pathname); // codes do not belong into the history
}

async function start() {
  const { id, service, terms } = document.querySelector("main").dataset;
  takeCode();
  globalThis.addEventListener("hashchange", takeCode);
  const respondent = await Respondent.open({ service, id, terms, code: codeOf() });
  respondent.addEventListener("change", (event) => show(event.detail, true));
  respondent.addEventListener("failure", (event) => tell(event.detail.message, "problem"));
  show(await respondent.kept());
  again.addEventListener("click", () => respondent.sendUnwatched());
  forget.addEventListener("click", async () => {
    if (!globalThis.confirm(WORDS.forget)) return;
    respondent.close();
    await forgetEverything();
    location.reload();
  });
  if (form === null) return;
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const answers = readForm();
    if (answers === null) return;
    respondent.code = codeOf();
    linked = null;
    const button = form.querySelector("button");
    button.disabled = true;
    try {
      await respondent.answer(answers);
      if (status.offsetParent !== null) status.focus();
    } catch (failure) {
      tell(failure.message, "problem");
    } finally {
      button.disabled = false;
    }
  });
  form.addEventListener("change", (event) => {
    const group = event.target.closest("[data-question], [data-code]");
    group.querySelector(".problem").hidden = true; // checked again when it is sent
    for (const field of group.querySelectorAll("input, select")) field.removeAttribute("aria-invalid");
  });
  form.querySelector("button").disabled = false;
}

start().catch((failure) => tell(failure.message ?? "This page does not work in this browser.", "problem"));
