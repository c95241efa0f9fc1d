// Everything works without this script. With it a page follows what changes, settings open in a drawer, a form that
// deletes asks first, and unsaved text is not lost by a click.
"use strict";

const status_ = document.getElementById("live-status");
const drawer = document.getElementById("drawer");
const typed = new Set(); // forms with text that is not saved
const isDirty = (where = document) => [...typed].some((form) => form.isConnected && where.contains(form));

// -- what changes while a page is open -------------------------------------------------------------------------------

const parts = () => [...document.querySelectorAll("[data-live][id]")];
const wanted = (topic) => parts().some((part) => (part.dataset.live || "files state").split(" ").includes(topic));

async function follow() {
  const answer = await fetch(location.href, { headers: { Accept: "text/html" }, cache: "no-store" });
  if (!answer.ok) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  let changed = false;
  for (const part of parts()) {
    const fresh = page.getElementById(part.id);
    if (!fresh || part.contains(document.activeElement)) continue;
    keepOpen(part, fresh);
    if (fresh.innerHTML === part.innerHTML) continue;
    part.replaceChildren(...document.adoptNode(fresh).childNodes);
    part.classList.remove("fresh");
    void part.offsetWidth;
    part.classList.add("fresh");
    changed = true;
  }
  if (changed) say("This page was brought up to date.");
}

// What a person unfolded stays unfolded; two with the same words are told apart by their order.
function keepOpen(part, fresh) {
  const name = (details) => details.querySelector("summary")?.textContent.trim();
  const before = [...part.querySelectorAll("details")];
  for (const details of fresh.querySelectorAll("details")) {
    const at = before.findIndex((each) => name(each) === name(details));
    if (at >= 0) details.open = before.splice(at, 1)[0].open;
  }
}

function say(text) {
  status_.textContent = text;
  clearTimeout(say.timer);
  say.timer = setTimeout(() => { status_.textContent = ""; }, 4000);
}

let due = 0;
function soon(topic) {
  const holder = document.querySelector("[data-stale]");
  if (topic === "files" && holder && isDirty()) say("Files changed while you type; saving tells you if this one did.");
  if (!wanted(topic)) return;
  clearTimeout(due);
  due = setTimeout(() => { follow().catch(() => {}); }, 150);
}

if (parts().length) {
  const source = new EventSource("/events");
  for (const topic of ["files", "state"]) source.addEventListener(topic, () => soon(topic));
  let lost = false;
  source.onerror = () => { lost = true; };
  source.onopen = () => { if (lost) { lost = false; soon("files"); soon("state"); } };
  addEventListener("pagehide", () => source.close());
  addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });
}

// -- forms -----------------------------------------------------------------------------------------------------------

document.addEventListener("input", (event) => {
  const form = event.target.closest("form[data-guard]");
  if (form) typed.add(form);
});
document.addEventListener("submit", (event) => {
  const question = event.target.dataset.confirm;
  if (question && !confirm(question)) { event.preventDefault(); return; }
  typed.delete(event.target);
});
addEventListener("beforeunload", (event) => { if (isDirty()) event.preventDefault(); });
document.addEventListener("change", (event) => {
  const form = event.target.form;
  if (form && event.target.matches("[data-submit]")) form.requestSubmit();
});

// -- the drawer ------------------------------------------------------------------------------------------------------

function closeDrawer() {
  if (isDirty(drawer) && !confirm("Close without saving what was typed?")) return false;
  drawer.replaceChildren();
  drawer.close();
  return true;
}
drawer.addEventListener("cancel", (event) => { if (!closeDrawer()) event.preventDefault(); });

document.addEventListener("click", async (event) => {
  if (event.target.closest("[data-close]")) { event.preventDefault(); closeDrawer(); return; }
  const link = event.target.closest("a[data-drawer]");
  if (!link || event.metaKey || event.ctrlKey || location.pathname === link.pathname) return;
  event.preventDefault();
  const answer = await fetch(link.href, { headers: { Accept: "text/html" } });
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  drawer.replaceChildren(...page.getElementById("content").childNodes);
  drawer.showModal();
});
