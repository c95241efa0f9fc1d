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

let held = null; // a topic that came while somebody was in a part that it changes
async function follow(topic) {
  const answer = await fetch(location.href, { headers: { Accept: "text/html" }, cache: "no-store" });
  if (answer.redirected) return stand("page", "You are signed out, so this page is as it was. Load it again to sign in.");
  if (answer.status === 404) return stand("page", "What this page shows is not there any more.");
  if (!answer.ok) return;
  stand("page", "");
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  let changed = false;
  for (const part of parts()) {
    const fresh = page.getElementById(part.id);
    if (!fresh) continue;
    keepOpen(part, fresh);
    if (fresh.innerHTML === part.innerHTML) continue;
    if (part.contains(document.activeElement)) { held = topic; continue; }
    part.replaceChildren(...document.adoptNode(fresh).childNodes);
    part.classList.remove("fresh");
    void part.offsetWidth;
    part.classList.add("fresh");
    changed = true;
  }
  if (changed) say("This page was brought up to date.");
}

// Something is going on whose end may have come before this page listened, so it is asked for as well.
const PENDING_MS = 2000;
function awaitEnd() {
  if (!document.querySelector("[data-live] [data-pending]")) return;
  setTimeout(async () => { if (!document.hidden) await follow().catch(() => {}); awaitEnd(); }, PENDING_MS);
}
awaitEnd();

// What a person unfolded stays unfolded; two with the same words are told apart by their order.
function keepOpen(part, fresh) {
  const name = (details) => details.querySelector("summary")?.textContent.trim();
  const before = [...part.querySelectorAll("details")];
  for (const details of fresh.querySelectorAll("details")) {
    const at = before.findIndex((each) => name(each) === name(details));
    if (at >= 0) details.open = before.splice(at, 1)[0].open;
  }
}

document.addEventListener("focusout", () => {
  if (!held) return;
  const topic = held;
  held = null;
  soon(topic);
});

// A sentence for a moment; what holds on stands there until it holds no more.
const standing = { line: "", page: "" };
function say(text) {
  status_.textContent = text;
  status_.classList.remove("stays");
  clearTimeout(say.timer);
  say.timer = setTimeout(sayStanding, 4000);
}
function stand(which, text) {
  if (standing[which] === text) return;
  standing[which] = text;
  sayStanding();
}
function sayStanding() {
  clearTimeout(say.timer);
  status_.textContent = standing.line || standing.page;
  status_.classList.toggle("stays", status_.textContent !== "");
}

let due = 0;
let missed = null; // a topic that a hidden tab looks after once it is seen again
function soon(topic) {
  const holder = document.querySelector("[data-stale]");
  if (topic === "files" && holder && isDirty()) say("Files changed while you type; saving tells you if this one did.");
  if (!wanted(topic)) return;
  if (document.hidden) { missed = topic; return; }
  clearTimeout(due);
  due = setTimeout(() => { follow(topic).catch(() => {}); }, 150);
}

// A browser opens no more than six connections to a site, and a stream takes one: one tab listens and tells the others.
// Where tabs can't agree on one, because the page came without TLS from another machine, those that are seen listen.
const WAITED_MS = 500; // a page that waited longer for its turn may have missed something
const RETRY_MS = 5000;
const AWAY_MS = 4000; // a dashboard that is started anew is back before that
const AWAY = "The dashboard does not answer. This page is as it was; it follows again by itself.";

function listen() {
  const others = new BroadcastChannel("changes");
  const topics = ["files", "state"];
  let source = null;
  let lost = false;
  let away = 0;
  const tell = (topic) => { others.postMessage(topic); hear(topic); };
  const hear = (topic) => {
    if (topic === "away") stand("line", AWAY);
    else { stand("line", ""); soon(topic); }
  };
  const open = () => {
    source = new EventSource("/events");
    for (const topic of topics) source.addEventListener(topic, () => tell(topic));
    source.onopen = () => {
      clearTimeout(away);
      away = 0;
      topics.forEach(lost ? tell : (topic) => others.postMessage(topic));
      lost = false;
    };
    source.onerror = ({ target }) => {
      lost = true; // the browser tries again by itself, but not after an answer that is no stream
      away ||= setTimeout(tell, AWAY_MS, "away");
      if (target.readyState === EventSource.CLOSED) setTimeout(() => { if (source === target) open(); }, RETRY_MS);
    };
  };
  const close = () => { source?.close(); source = null; lost = true; clearTimeout(away); away = 0; };
  const asked = performance.now();
  others.onmessage = ({ data }) => hear(data);
  addEventListener("pagehide", close);
  addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });
  document.addEventListener("visibilitychange", () => {
    if (!navigator.locks && document.hidden) close();
    if (document.hidden) return;
    if (!navigator.locks && !source) open();
    if (missed) { soon(missed); missed = null; }
  });
  if (!navigator.locks) { if (!document.hidden) open(); return; }
  navigator.locks.request("changes", () => {
    lost = performance.now() - asked > WAITED_MS;
    open();
    return new Promise(() => {}); // until the page goes
  }).catch(open);
}

if (parts().length) listen();

// -- forms -----------------------------------------------------------------------------------------------------------

document.addEventListener("input", (event) => {
  const form = event.target.closest("form[data-guard]");
  if (form) typed.add(form);
});
// A form is sent once, and one with text only while somebody is there to take it: else another page would stand in the
// place of what was typed, the browser's own or the one that asks for the token.
const sent = new Set();
const SENT_MS = 5000; // who waited longer may try again
let sure = null; // the form that was found to have somebody who takes it
async function findTrouble() {
  const how = { headers: { Accept: "application/json" }, redirect: "manual", cache: "no-store" };
  const answer = await fetch("/", how).catch(() => null);
  if (!answer) return "Not sent: the dashboard does not answer. What you typed is still here.";
  return answer.status === 401 ? "Not sent: you are signed out. Sign in in another tab; what you typed is still here." : "";
}
function complain(form, button, text) {
  form.querySelector(".unsent")?.remove();
  if (!text) return;
  const sentence = document.createElement("span");
  sentence.className = "unsent";
  sentence.role = "alert";
  (button?.parentElement ?? form).prepend(sentence);
  sentence.textContent = text;
}
function send(form) {
  sent.add(form);
  typed.delete(form);
  setTimeout(() => sent.delete(form), SENT_MS);
}
document.addEventListener("submit", async (event) => {
  const form = event.target;
  const question = form.dataset.confirm;
  if (sent.has(form)) { event.preventDefault(); return; }
  if (question && sure !== form && !confirm(question)) { event.preventDefault(); return; }
  if (form.method !== "post") return;
  if (!("guard" in form.dataset) || sure === form) { sure = null; send(form); return; }
  event.preventDefault();
  sent.add(form);
  const trouble = await findTrouble();
  sent.delete(form);
  complain(form, event.submitter, trouble);
  if (trouble) return;
  sure = form;
  form.requestSubmit(event.submitter);
});
addEventListener("pageshow", () => sent.clear());
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
// The browser lets a page answer to the first Escape only, and closes at the second one whatever was typed.
drawer.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || event.isComposing) return;
  event.preventDefault();
  closeDrawer();
});
drawer.addEventListener("cancel", (event) => { if (!closeDrawer()) event.preventDefault(); });

document.addEventListener("click", async (event) => {
  if (event.target.closest("[data-close]")) { event.preventDefault(); closeDrawer(); return; }
  const link = event.target.closest("a[data-drawer]");
  if (!link || event.metaKey || event.ctrlKey || event.shiftKey || location.pathname === link.pathname) return;
  event.preventDefault();
  if (isDirty(drawer)) { drawer.showModal(); return; } // closed by the browser with what was typed still in it
  const answer = await fetch(link.href, { headers: { Accept: "text/html" } }).catch(() => null);
  const page = answer && new DOMParser().parseFromString(await answer.text(), "text/html");
  const content = page?.getElementById("content");
  if (!answer?.ok || answer.redirected || !content) { location.href = link.href; return; }
  drawer.replaceChildren(...content.childNodes);
  drawer.showModal();
});
