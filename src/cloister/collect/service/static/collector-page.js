/** The collector's page: brings the figures up to date while it is open, unless that is switched off, and says when it could not. */

const EVERY_MS = 10000;
const toggle = document.querySelector("#update");
const stale = document.querySelector("#stale");
const address = new URL(document.querySelector("#live")?.dataset.address ?? "", location.href).href; // a form's answer stands elsewhere

let isBusy = false;
let since = null; // when the figures stopped being up to date

function tellStale(reason) {
  since ??= new Date();
  stale.textContent = `Not up to date since ${since.toLocaleTimeString()}: ${reason}`;
}

async function update() {
  if (isBusy || !toggle.checked || document.hidden) return;
  isBusy = true;
  try {
    const response = await fetch(address, { cache: "no-store" });
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    const fresh = page.querySelector("#live");
    if (response.ok && fresh !== null) {
      for (const link of fresh.querySelectorAll("a[href]")) link.href = new URL(link.getAttribute("href"), response.url).href;
      document.querySelector("#live").replaceWith(fresh);
      since = null;
      stale.textContent = "";
    } else if (response.ok) {
      tellStale("the token was renewed, or you have logged out. Reload the page to log in again.");
    } else if (response.status === 404) {
      tellStale("the collection was deleted.");
    } else {
      tellStale("the service is busy. It is asked again.");
    }
  } catch {
    tellStale("the service does not answer. It is asked again.");
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
