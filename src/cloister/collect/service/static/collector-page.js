/** The collector's page: brings the figures up to date while it is open, unless that is switched off. */

const EVERY_MS = 10000;
const toggle = document.querySelector("#update");

let isBusy = false;

async function update() {
  if (isBusy || !toggle.checked || document.hidden) return;
  isBusy = true;
  try {
    const response = await fetch(location.href, { cache: "no-store" });
    if (!response.ok || response.redirected) return;
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    const fresh = page.querySelector("#live");
    const shown = document.querySelector("#live");
    if (fresh !== null && shown !== null) shown.replaceWith(fresh);
  } catch {
    // the next time, perhaps
  } finally {
    isBusy = false;
  }
}

if (toggle !== null) setInterval(update, EVERY_MS);
for (const form of document.querySelectorAll("form[data-confirm]")) {
  form.addEventListener("submit", (event) => {
    if (!globalThis.confirm(form.dataset.confirm)) event.preventDefault();
  });
}
