// Times in the reader's own zone, and pages that follow what agents write. Without it all still works.
"use strict";

const EDITING = "textarea, input:not([type=hidden]):not([type=checkbox]), select";

function localTimes(root) {
  for (const time of root.querySelectorAll("time[datetime]")) {
    const at = new Date(time.dateTime);
    time.title = time.textContent;
    time.textContent = at.toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });
  }
}

function isEdited(field) {
  return field === document.activeElement || (field.tagName !== "SELECT" && field.value !== field.defaultValue);
}

// What a reader has done to the page: opened parts by their headings, ticked rows by their refs.
function stateOf(main) {
  const opened = new Map([...main.querySelectorAll("details")].map((one) => [nameOf(one), one.open]));
  const ticked = new Set([...main.querySelectorAll("input[type=checkbox]:checked")].map((one) => one.value));
  return { opened, ticked, at: signOf(document.activeElement) };
}

function nameOf(part) {
  return part.dataset.name || part.querySelector("summary").textContent;
}

function signOf(element) {
  return `${element.tagName} ${element.getAttribute("href")} ${element.form?.action} ${element.textContent}`;
}

function restore(main, state) {
  for (const one of main.querySelectorAll("details")) {
    if (state.opened.has(nameOf(one))) one.open = state.opened.get(nameOf(one));
  }
  for (const one of main.querySelectorAll("input[type=checkbox]")) one.checked = state.ticked.has(one.value);
  [...main.querySelectorAll("a, button, summary")].find((one) => signOf(one) === state.at)?.focus({ preventScroll: true });
}

async function refresh(insist) {
  const main = document.querySelector("main");
  const news = document.querySelector("#news");
  if (!insist && [...main.querySelectorAll(EDITING)].some(isEdited)) {
    news.hidden = false;
    return;
  }
  const answer = await fetch(location.href);
  if (!answer.ok) return;
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").querySelector("main");
  const state = stateOf(main);
  // What was done stays told: it is part of the address that was just fetched again.
  main.replaceChildren(...document.importNode(fresh, true).childNodes);
  localTimes(main);
  restore(main, state);
  news.hidden = true;
}

function follow() {
  if (!("live" in document.body.dataset)) return;
  let seen = document.body.dataset.live;
  let source = null;
  const listen = () => {
    source = new EventSource(`/events?after=${seen}`);
    source.onmessage = (event) => {
      seen = event.data;
      refresh(false).catch(() => {});
    };
  };
  // A browser has few connections to one host: a page that nobody sees gives its own back.
  document.addEventListener("visibilitychange", () => {
    source?.close();
    if (!document.hidden) listen();
  });
  addEventListener("pagehide", () => source?.close());
  // What is sent off changes what this page shows: it may be gone before the next page is here.
  document.addEventListener("submit", (event) => {
    if (event.target.method === "post") source?.close();
  });
  document.querySelector("#news button").addEventListener("click", () => refresh(true));
  listen();
}

localTimes(document);
follow();
